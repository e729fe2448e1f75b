"""What the oracle reads: a log of plain dicts, in the order in which things happened. It knows nothing else of the bot.

Every event has `e`, its kind, and `at`, seconds. A field is (queue, flavor, resource, "nominal" or "borrowingLimit"),
or (namespace/name, "", resource, "hard") of a ResourceQuota.

- version: one version of a ClusterQueue or a ResourceQuota. queue (or namespace/name), op ("put", "gone"), who (field
  manager), uid, tree (root cohort or the object's own name), numbers {(flavor, resource, name): int}, lending {(flavor,
  resource): int}, note (text of the bot's annotation or None)
- beside: a queue's team has a ResourceQuota, which goes up and down with each loan of the queue. queue, quota
- record: what the bot stored of a field. field, uid, base, legs {leg: int}, wrote, asked ((uid, live) or None), gone
- pause: an admin stopped quota changes or let them go on. on
- git: a queue's quota is written in Git. queue
- proposal: what the bot proposes for a queue in Git. id, queue, uid, fields {field: (before, after)}, each of these
  (base, legs, wrote), ended (None, "merged", "superseded" or "withdrawn"). Records stored with it come before it
- intent: what the bot is about to write to a field. field, wrote, legs
- loan: a stored loan. id, kind, lender, borrower, flavor, resource, amount, start, end, state, suspended,
  in_force (the bot said so)
- request: a stored request. id, requester, team, state, by, steps ((who, count), ...), terms (how often they changed),
  ask (amount, kind, lender, start, length, until), extends (the loan that is to end later, or None), until (its end),
  spans ((start, end), ...) if it repeats, series (the one that it is one time of, or None).
  One whose terms change is logged as waiting before what follows
- approval: a stored approval. request, step, who, own, terms (of which it is)
- offer: a stored counter-offer. id, request, who, ask, state ("open", "accepted", "kept", "replaced", "void"), by
- idle: a stored question about an idle loan. id, loan, amount (unused) of (on loan), state ("open", "returned", "kept",
  "used"), by. It comes before the loan that is stored with it
- use: what a queue's workloads hold from now on. queue, reserved {(flavor, resource): int}
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
- eviction: what is stored of the work at a loan's end. loan, state ("due", "announced", "over", "closed"), due (its
  grace ends then, or None), works {uid: state}
- work: a version of a Workload. uid, who (field manager), active, mark (the bot's annotation or None), holds (devices)
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
