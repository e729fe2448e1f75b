"""`log`: the newest first, only what was asked for, only for admins, and never more than fits a message."""

from typing import TYPE_CHECKING, Any

import pytest

from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.requests import AuditEntry
from bot.flows.read_audit import LogAsked, read_audit, send_audit
from bot.flows.submit_request import submit_request
from bot.views.answers.audit_log import MOST_LINES, audit_log
from tests.support import quota
from tests.support.slack_limits import faults
from tests.support.view_text import seen

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


@pytest.fixture
def told(bench: "Bench") -> "Bench":
    """A request of vision, a denial, and a field of each team's that the bot wrote, an hour apart."""
    submit_request(bench.world, quota.draft(8), "test:ask", bench.arrival("ask"))
    entries = (
        ("U0ADMIN", "deny", "Q-1", "no more <!channel> today"),
        ("bot", "raise", "default/vision/a100/nvidia.com/gpu/nominal", "24: applied"),
        ("bot", "lower", "default/nlp/a100/nvidia.com/gpu/nominal", "16: applied"),
    )
    for who, what, subject, outcome in entries:
        bench.pass_time(hours=1)
        add(bench, who, what, subject, outcome)
    return bench


def add(bench: "Bench", *words: str) -> None:
    with bench.world.store.begin() as uow:
        uow.audit.add(AuditEntry(bench.clock(), *words))
        uow.commit()


@pytest.mark.parametrize(
    ("asked", "whats"),
    [
        ({}, ["lower", "raise", "deny", "request"]),
        ({"request": 1}, ["deny", "request"]),
        ({"who": "U0ADMIN"}, ["deny"]),
        ({"team": "vision"}, ["raise", "deny", "request"]),
        ({"team": "nlp"}, ["lower"]),
        ({"last": quota.loan().end - quota.NOW}, ["lower", "raise", "deny", "request"]),
        ({"last": quota.NOW - quota.loan().start, "team": "vision"}, ["raise"]),
        ({"request": 7}, []),
    ],
)
def test_it_is_narrowed_to_what_was_asked_for(told: "Bench", asked: dict[str, Any], whats: list[str]) -> None:
    assert [one.what for one in read_audit(told.world, "U0ADMIN", LogAsked(**asked)).entries] == whats


def test_it_reads_as_words_with_the_names_of_people(told: "Bench") -> None:
    lines = seen(audit_log(read_audit(told.world, "U0ADMIN", LogAsked(1))))
    assert lines == [
        "The log of Q-1: 2 entries",
        "Wed 2 Dec 15:05 u0admin: deny Q-1: no more <!channel> today",
        "Wed 2 Dec 14:05 u0vision: request Q-1: waiting",
        "As CSV by DM: the same with csv at the end",
    ]
    assert seen(audit_log(read_audit(told.world, "U0ADMIN", LogAsked(who="U0NLP")))) == ["Nothing in the log of u0nlp."]


def test_never_more_than_fits_a_message(told: "Bench") -> None:
    for number in range(MOST_LINES + 30):
        add(told, "U0ADMIN", "w" * 300, f"{number} " + "s" * 3_000, "o" * 20_000)
    message = audit_log(read_audit(told.world, "U0ADMIN", LogAsked()))
    lines = seen(message)
    assert lines[0] == f"The log: the newest {MOST_LINES} entries"
    assert len(lines) == MOST_LINES + 3
    assert lines[-2].startswith("There are more. Narrow it: log Q-142")
    assert not list(faults(message))


@pytest.mark.parametrize("who", ["U0VISION", "U0LEADVISION", "U0LEADNLP", "U0ROBOTICS"])
def test_others_are_refused_in_words_and_that_is_in_the_audit(told: "Bench", who: str) -> None:
    with pytest.raises(Refused, match="Only gpu-admins can read the log"):
        read_audit(told.world, who, LogAsked(1))
    newest = read_audit(told.world, "U0ADMIN", LogAsked()).entries[0]
    assert (newest.who, newest.what, newest.subject) == (who, "log", "Q-1")
    assert newest.outcome.startswith("Only gpu-admins")


def test_an_admin_group_that_cannot_be_looked_up_refuses(told: "Bench") -> None:
    del told.slack.groups["S0ADMINS"]
    with pytest.raises(Refused, match="Slack did not say who is in user group S0ADMINS"):
        read_audit(told.world, "U0VISION", LogAsked())
    assert read_audit(told.world, "U0ADMIN", LogAsked()).entries


def test_as_csv_it_goes_to_the_one_who_asked_and_nobody_else(told: "Bench") -> None:
    add(told, "U0ADMIN", "deny", "Q-1", "=HYPERLINK(1)")
    assert send_audit(told.world, "U0ADMIN", LogAsked(1)) == 3
    assert [(to, name) for to, name, _ in told.slack.files] == [("U0ADMIN", "gpu-quota-log-2026-12-02.csv")]
    assert '"U0ADMIN","deny","Q-1","\'=HYPERLINK(1)"' in told.slack.files[0][2]
    with pytest.raises(Refused, match="Only gpu-admins can read the log"):
        send_audit(told.world, "U0VISION", LogAsked())
    assert len(told.slack.files) == 1


def test_a_file_that_slack_does_not_take_is_said_with_what_to_do(told: "Bench") -> None:
    told.gate.plan(lambda: _refuse(Rejected("Slack", "missing_scope")), matches="chat.send_file")
    with pytest.raises(Refused, match="add the scope files:write"):
        send_audit(told.world, "U0ADMIN", LogAsked())
    told.gate.plan(lambda: _refuse(Unavailable("Slack", "no answer")), matches="chat.send_file")
    with pytest.raises(Refused, match="look first"):
        send_audit(told.world, "U0ADMIN", LogAsked())


def _refuse(error: Exception) -> None:
    raise error
