"""The oracle: a log of what happened in, the broken promises out. Written from the design alone."""

from collections.abc import Iterable

from tests.support.oracle.decisions import DecisionJudge
from tests.support.oracle.evictions import EvictionJudge
from tests.support.oracle.idle import IdleJudge
from tests.support.oracle.log import Event, Violation
from tests.support.oracle.messages import MessageJudge
from tests.support.oracle.quota import QuotaJudge
from tests.support.oracle.series import SeriesJudge


def violations(log: Iterable[Event]) -> list[Violation]:
    """All broken promises of P1 to P5 and P8, in the order in which they show."""
    judges = (QuotaJudge(), DecisionJudge(), SeriesJudge(), MessageJudge(), IdleJudge(), EvictionJudge())
    found = []
    for index, event in enumerate(log):
        for judge in judges:
            found += [Violation(promise, index, what) for promise, what in judge.judge(event)]
    return found
