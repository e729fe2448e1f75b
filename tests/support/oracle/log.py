"""What the oracle reads: a log of plain dicts, in the order in which things happened. It knows nothing else of the bot.

Every event has `e`, its kind, and `at`, seconds. A field is (queue, flavor, resource, "nominal" or "borrowingLimit").

- version: one version of a ClusterQueue. queue, op ("put", "gone"), who (field manager), uid, tree (root cohort or the
  queue's own name), numbers {(flavor, resource, name): int}, lending {(flavor, resource): int}, note (text of the bot's
  annotation or None)
- record: what the bot stored of a field. field, uid, base, legs {leg: int}, wrote, asked ((uid, live) or None), gone
- pause: an admin stopped quota changes or let them go on. on
- intent: what the bot is about to write to a field. field, wrote, legs
- loan: a stored loan. id, kind, lender, borrower, flavor, resource, amount, start, end, state, suspended
- request: a stored request. id, requester, team, state, by, steps ((who, count), ...), terms (how often they changed),
  ask (amount, kind, lender, start, length, until), extends (the loan that is to end later, or None), until (its end).
  One whose terms change is logged as waiting before what follows
- approval: a stored approval. request, step, who, own, terms (of which it is)
- offer: a stored counter-offer. id, request, who, ask, state ("open", "accepted", "kept", "replaced", "void"), by
- escalation: others may give a step too. request, step, terms, asked (whom the step asks), to (a step's name)
- ask_back: a lender asks for a loan back. id, loan, who, state ("open", "kept", "returned", "unanswered", "over"), by
- audit: a stored entry. who, what, subject, outcome
- people: who is meant by the steps from now on. who {step: set of ids}, own (self-approval allowed), outside (guests),
  escalates (who may give a step too that nobody answers, or None), after (seconds)
- press: somebody pressed Approve, Deny, an answer, or a button of an offer. who, what, subject, result ("done",
  "refused", "lost": the process died or the database was away, so nothing is known), unknown (a user group could not be
  looked up)
- nodes: what the nodes have from now on. capacity {flavor: int} on those that take new pods
- message: what a person could read. what ("post", "update"), to, notice, text, blocks
- notice: a message that is owed. id, key, kind, to, state, posted (it has a place in a channel)
- slept: a process that led stood still for longer than its lease, and wakes up now
- rest: faults have stopped, nothing is left to do. over (all loans' time is over)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Event: TypeAlias = Mapping[str, Any]
Field: TypeAlias = tuple[str, str, str, str]

BOT = "gpu-quota-bot"
ANSWERS = ("base", "included", "restore")
"""How an answer that counted begins in the audit; a refused one is there with its reason."""
NOMINAL = "nominal"


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise, with the index of the event that showed it."""

    promise: str
    index: int
    what: str

    def __str__(self) -> str:
        return f"{self.promise} at event {self.index}: {self.what}"
