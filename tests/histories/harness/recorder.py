"""Writes the oracle's log: every version of every queue, every stored change, every message, as plain values.

What the cluster did is always written before what was stored because of it. Called by the town's fakes.
"""

from collections.abc import Mapping
from datetime import datetime
from operator import is_
from typing import Any

from bot.core.convergence.facts import IntendedField
from bot.core.convergence.proposals import Proposal
from bot.core.offers import Terms, terms_of
from bot.core.requests import QuotaRequest
from bot.demo.kube.sim import KubeSim
from tests.support.fakes.chat import Shown
from tests.support.fakes.clock import START, HandClock
from tests.support.fakes.store import Tables

LOANS = "gpu-quota-bot.io/loans"
EVICTED = "gpu-quota-bot.io/evicted"
_NAMES = {"nominal": "nominalQuota", "borrowingLimit": "borrowingLimit"}


def seconds(at: datetime | None) -> float:
    """Since the history began."""
    return 0.0 if at is None else (at - START).total_seconds()


class Recorder:
    """One history's log."""

    def __init__(self, sim: KubeSim, clock: HandClock) -> None:
        self.log: list[dict[str, Any]] = []
        self._sim = sim
        self._clock = clock
        self._version = 0
        self._held: dict[str, Any] = {}
        self._work_version = 0

    def add(self, event: str, /, **values: Any) -> None:
        """One event, after everything that the cluster did before it."""
        self.drain()
        self.log.append({"e": event, "at": seconds(self._clock.now), **values})

    def drain(self) -> None:
        """Versions of objects with quota that are not in the log yet, without those that change only the status."""
        store = self._sim.cluster.store
        changes = [*store.since("clusterqueues", self._version), *store.since("resourcequotas", self._version)]
        for change in sorted(changes, key=lambda one: one.version):
            self._version = change.version
            self._use(change)
            if change.type != "DELETED" and change.old is not None and _same(change.old, change.obj):
                continue
            self.log.append({"e": "version", "at": seconds(self._clock.now), **_version(change)})
        for change in self._sim.cluster.store.since("workloads", self._work_version):
            self._work_version = change.version
            self.log.append({"e": "work", "at": seconds(self._clock.now), **_work(change)})

    def _use(self, change: Any) -> None:
        """What is reserved in a queue, when it changes."""
        held = {
            (flavor["name"], entry["name"]): int(entry["total"])
            for flavor in (change.obj.get("status") or {}).get("flavorsReservation", ())
            for entry in flavor["resources"]
        }
        queue = change.obj["metadata"]["name"]
        if self._held.get(queue, {}) != held:
            self._held[queue] = held
            self.log.append({"e": "use", "at": seconds(self._clock.now), "queue": queue, "reserved": held})

    def heard(self, shown: Shown) -> None:
        """A message that somebody could read."""
        message = shown.message
        words = {"text": message.text, "blocks": list(message.blocks)}
        self.add("message", what=shown.what, to=shown.to, notice=shown.notice, **words)

    def committed(self, before: Tables, after: Tables) -> None:
        """Everything that one transaction changed."""
        for entry in after.audit[len(before.audit) :]:
            self.add("audit", who=entry.who, what=entry.what, subject=entry.subject, outcome=entry.outcome)
        self._unanswered(before, after)
        self._requests(before, after)
        if before.pause != after.pause:
            self.add("pause", on=after.pause is not None)
        for intent, _ in _changed(before.intents, after.intents).values():
            for part in intent.fields:
                self.add("intent", field=(*part.key[1:4], part.key.name.value), wrote=part.wrote, legs=dict(part.legs))
        for idle in _changed(before.idle_offers, after.idle_offers).values():
            facts = {"amount": idle.amount, "of": idle.of, "state": idle.state.value, "by": idle.settled_by}
            self.add("idle", id=idle.id, loan=idle.loan, **facts)
        for loan in _changed(before.loans, after.loans).values():
            self.add("loan", **_loan(loan))
        for one in _changed(before.evictions, after.evictions).values():
            works = {work.uid: work.state.value for work in one.works}
            due = None if one.due is None else seconds(one.due)
            self.add("eviction", loan=one.loan, state=one.state.value, due=due, works=works)
        self._fields(before, after)
        for key, row in _changed(before.notices, after.notices).items():
            notice = row.notice
            facts = {"kind": notice.draft.kind, "to": notice.draft.to, "state": notice.state.value}
            self.add("notice", id=notice.id, key=key, posted=notice.ref is not None, **facts)

    def _fields(self, before: Tables, after: Tables) -> None:
        """What is known of numbers, and then what is proposed for them."""
        for key, record in _changed(before.records, after.records).items():
            asked = (record.question.uid, record.question.live) if record.question else None
            facts = {"base": record.base, "legs": dict(record.legs), "wrote": record.wrote, "gone": record.gone}
            self.add("record", field=(*key[1:4], key.name.value), uid=record.uid, asked=asked, **facts)
        for proposal in _changed(before.proposals, after.proposals).values():
            self.add("proposal", **_proposal(proposal))

    def _unanswered(self, before: Tables, after: Tables) -> None:
        """Who else may decide, and what lenders ask for."""
        for made in after.escalations[len(before.escalations) :]:
            facts = {"step": made.step, "terms": made.terms, "asked": made.asked, "to": made.to}
            self.add("escalation", request=made.request, **facts)
        for ask in _changed(before.ask_backs, after.ask_backs).values():
            facts = {"state": ask.state.value, "who": ask.who, "by": ask.settled_by}
            self.add("ask_back", id=ask.id, loan=ask.loan, **facts)

    def _requests(self, before: Tables, after: Tables) -> None:
        """What changes a request's terms comes before them, and its new terms before their approvals."""
        changed = _changed(before.requests, after.requests)
        for offer in _changed(before.offers, after.offers).values():
            facts = {"state": offer.state.value, "who": offer.who, "by": offer.settled_by}
            self.add("offer", id=offer.id, request=offer.request, ask=_ask(offer.terms), **facts)
        for number, request in changed.items():
            if number in before.requests and before.requests[number].terms != request.terms:
                self.add("request", id=number, **{**_request(request), "state": "waiting", "by": None})
        for one in after.approvals[len(before.approvals) :]:
            facts = {"request": one.request, "step": one.step, "terms": one.terms}
            self.add("approval", who=one.who, own=one.self_approved, **facts)
        for number, request in changed.items():
            self.add("request", id=number, **_request(request))


def _proposal(proposal: Proposal) -> dict[str, Any]:
    def state(part: IntendedField) -> tuple[int | None, dict[str, int], int | None]:
        return part.base, dict(part.legs), part.wrote

    fields = {(*one.key[1:4], one.key.name.value): (state(one.before), state(one.after)) for one in proposal.fields}
    ended = proposal.ended and proposal.ended.value
    return {"id": proposal.id, "queue": proposal.queue, "uid": proposal.uid, "fields": fields, "ended": ended}


def _changed(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> dict[Any, Any]:
    if len(before) == len(after) and all(map(is_, before.values(), after.values())):
        return {}  # as nearly always, and told fast
    return {key: value for key, value in after.items() if before.get(key) is not value}


def _same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    def seen(obj: Mapping[str, Any]) -> Any:
        return obj["spec"], obj["metadata"]["uid"], (obj["metadata"].get("annotations") or {}).get(LOANS)

    return bool(seen(old) == seen(new))


def _version(change: Any) -> dict[str, Any]:
    obj = change.obj
    meta, spec = obj["metadata"], obj["spec"]
    queue = "/".join(one for one in (meta.get("namespace"), meta["name"]) if one)
    numbers: dict[tuple[str, str, str], int] = {}
    lending: dict[tuple[str, str], int] = {}
    for group in spec.get("resourceGroups", []):
        for flavor in group["flavors"]:
            for entry in flavor["resources"]:
                for name, key in _NAMES.items():
                    if entry.get(key) is not None:
                        numbers[flavor["name"], entry["name"], name] = int(entry[key])
                if entry.get("lendingLimit") is not None:
                    lending[flavor["name"], entry["name"]] = int(entry["lendingLimit"])
    for key, quantity in (spec.get("hard") or {}).items():
        if key.startswith("requests."):
            numbers["", key.removeprefix("requests."), "hard"] = int(quantity)
    return {
        "queue": queue,
        "op": "gone" if change.type == "DELETED" else "put",
        "who": change.manager,
        "uid": meta["uid"],
        "tree": spec.get("cohortName") or f"alone:{queue}",
        "numbers": numbers,
        "lending": lending,
        "note": (meta.get("annotations") or {}).get(LOANS),
    }


def _work(change: Any) -> dict[str, Any]:
    obj = change.obj
    admission = (obj.get("status") or {}).get("admission") or {}
    usage = [one.get("resourceUsage") or {} for one in admission.get("podSetAssignments") or ()]
    return {
        "uid": obj["metadata"]["uid"],
        "who": change.manager,
        "active": obj["spec"].get("active", True),
        "mark": (obj["metadata"].get("annotations") or {}).get(EVICTED),
        "holds": sum(int(amount) for one in usage for amount in one.values()),
    }


def _request(request: QuotaRequest) -> dict[str, Any]:
    return {
        "requester": request.ask.requester,
        "team": request.ask.team,
        "state": request.state.value,
        "by": request.decided_by,
        "steps": tuple((step.who, step.count) for step in request.steps),
        "terms": request.terms,
        "ask": _ask(terms_of(request.ask)),
        "extends": request.extends,
        "until": seconds(request.ask.until),
        "spans": tuple(tuple(map(seconds, span)) for span in request.ask.series.spans) if request.ask.series else (),
        "series": request.series,
    }


def _ask(terms: Terms) -> dict[str, Any]:
    return {
        "amount": terms.amount,
        "kind": terms.kind.value,
        "lender": terms.lender,
        "start": terms.start and seconds(terms.start),
        "length": terms.duration and terms.duration.total_seconds(),
        "until": terms.until and seconds(terms.until),
    }


def _loan(loan: Any) -> dict[str, Any]:
    same = ("id", "lender", "borrower", "flavor", "resource", "amount", "suspended")
    facts = {name: getattr(loan, name) for name in same}
    return {
        **facts,
        "kind": loan.kind.value,
        "in_force": loan.in_force_at is not None,
        "state": loan.state.value,
        "start": seconds(loan.start),
        "end": seconds(loan.end),
    }
