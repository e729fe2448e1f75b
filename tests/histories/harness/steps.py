"""What can happen in one step of a history. Each draws its particulars from the town's random source.

A step never fails for want of something to act on: it takes what is there, or makes what it needs first.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.core.ask_backs import AskBackState
from bot.core.convergence.facts import AnswerKind, FieldRecord
from bot.core.drafts import Draft
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.offers import Offer, OfferState
from bot.core.requests import QuotaRequest, RequestState
from bot.core.series import Every, Series, Span
from bot.demo.kube.people import Refused as ApiRefused
from bot.flows.answer_ask_back import keep_loan
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.answer_offer import OfferPress, accept_offer, keep_request
from bot.flows.ask_back import ask_back as ask_for
from bot.flows.extend_loan import MoreTime, extend_loan
from bot.flows.make_offer import Change, make_offer
from bot.flows.overcommit_tick import asks_for_tick
from bot.flows.pause_quota import pause_quota, resume_quota
from bot.flows.record_decision import Press, approve, deny
from bot.flows.return_loan import return_loan
from bot.flows.stop_series import end_series
from bot.flows.submit_request import submit_request
from bot.flows.withdraw_request import withdraw_request
from bot.flows.world import World
from bot.views.change_form import AS_ASKED, ChangeValues
from bot.views.ids import LENDER_BOT
from tests.histories.harness import people, work
from tests.histories.harness.idle_steps import (
    keep_what_is_idle,
    lie_idle,
    return_what_is_idle,
    work_begins,
    work_ends,
)
from tests.histories.harness.town import NODES, QUEUES, Act, Process, Town
from tests.support.oracle.messages import HOSTILE

HOUR = timedelta(hours=1)
MANAGERS = ("kubectl-edit", "argocd-controller", f"helm {HOSTILE[:40]}")
ANNOTATION = "gpu-quota-bot.io/loans"
Step = Callable[[Town], None]


# -- asking -----------------------------------------------------------------------------------------------------------


def ask(town: Town, kind: LoanKind, amount: int | None = None, *, at_once: bool = False) -> None:
    """A member, a lead or an admin asks for one of the teams; `at_once` for at least 5 hours from now."""
    draw = town.random
    team = draw.choice(people.TEAMS if kind is LoanKind.TRANSFER else people.TEAMS[:2])
    lender = draw.choice([other for other in people.TEAMS if other != team])
    user = draw.choice([people.member(team), people.lead(team), "U0ADMINA" if team == "alpha" else people.member(team)])
    start = town.clock() + draw.choice([HOUR, 3 * HOUR]) if draw.random() < 0.2 and not at_once else None
    flavor = "h100" if draw.random() < 0.2 and "gamma" not in (team, lender) else "a100"
    draft = Draft(
        requester=user,
        cluster="default",
        queue=team,
        flavor=flavor,
        amount=amount or draw.choice([1, 1, 2, 3, 4]),
        kind=kind,
        lender=lender if kind is LoanKind.TRANSFER else None,
        start=start,
        duration=draw.choice([5 * HOUR, 9 * HOUR] if at_once else [HOUR, 2 * HOUR, 5 * HOUR, 9 * HOUR]),
        reason=f"{HOSTILE} {draw.randrange(1000)}",
    )
    town.arrive(a_process(town), lambda world, key: submit_request(world, draft, key, key))


def ask_series(town: Town) -> None:
    """Two or three times, hours apart or one at the end of the other; half of them are approved at once."""
    draw = town.random
    team, length = draw.choice(people.TEAMS[:2]), draw.choice([HOUR, 2 * HOUR])
    kind = draw.choice([LoanKind.BORROW, LoanKind.TRANSFER])
    first, apart = town.clock() + draw.choice([HOUR / 2, HOUR]), length + draw.choice([0, 1, 3]) * HOUR
    spans = tuple(Span(first + n * apart, first + n * apart + length) for n in range(draw.choice([2, 3])))
    draft = Draft(
        requester=draw.choice([people.member(team), people.lead(team)]),
        cluster="default",
        queue=team,
        flavor="a100",
        amount=draw.choice([1, 2, 3]),
        kind=kind,
        lender=draw.choice([one for one in people.TEAMS if one != team]) if kind is LoanKind.TRANSFER else None,
        start=spans[0].start,
        until=spans[0].end,
        series=Series(Every.DAY, "every few hours", "UTC", spans),
        reason=f"{HOSTILE} {draw.randrange(1000)}",
    )
    town.arrive(a_process(town), lambda world, key: submit_request(world, draft, key, key))
    waiting = [one for one in _series(town) if one.state is RequestState.WAITING]
    if waiting and draw.random() < 0.5:
        approve_one(town, presses=4, request=waiting[-1])


def _series(town: Town) -> list[QuotaRequest]:
    return [one for one in town.store.tables.requests.values() if one.ask.series is not None]


def stop_series(town: Town) -> None:
    """What has not begun is called off by its requester, a lead or somebody with no say; all of it by an admin."""
    if not any(one.state is RequestState.APPROVED for one in _series(town)):
        ask_series(town)
    known = _series(town)
    if not known:
        return
    request = town.random.choice(known)
    if town.random.random() < 0.4:
        admin = town.random.choice([*people.ADMINS, people.NOBODY])
        town.arrive(a_process(town), lambda world, key: end_series(world, request.id, HOSTILE, admin, key))
        return
    who = town.random.choice([request.ask.requester, people.lead(request.ask.team), people.NOBODY])
    town.arrive(a_process(town), lambda world, key: withdraw_request(world, request.id, who, key))


def ask_borrow(town: Town) -> None:
    ask(town, LoanKind.BORROW)


def ask_transfer(town: Town) -> None:
    ask(town, LoanKind.TRANSFER)


def ask_extra(town: Town) -> None:
    """Where two GPUs fit, four do not."""
    ask(town, LoanKind.EXTRA, town.random.choice([1, 2, 2, 4]))


def cordon(town: Town) -> None:
    """A node takes no new pods any more, or does again: what was ticked may not be what is over-committed."""
    town.cordon(town.random.choice(list(NODES)))


# -- deciding ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pressed:
    """One press on a card as it stands."""

    number: int
    revision: int
    who: str
    what: str
    request: QuotaRequest
    ticked: bool = False

    @property
    def act(self) -> Act:
        """What handling it does."""
        return self._do

    @property
    def log(self) -> dict[str, Any]:
        """The oracle's view of it."""
        return {"who": self.who, "what": self.request.verb(self.what), "subject": self.request.subject}

    def _do(self, world: World, key: str) -> str:
        press = Press(self.number, self.revision, self.who, key, self.ticked)
        return approve(world, press) if self.what == "approve" else deny(world, press, f"no {HOSTILE}")


def a_process(town: Town) -> Process:
    return town.random.choice(town.processes)


def a_request(town: Town) -> QuotaRequest:
    """A waiting one if there is any; one is asked for if there is none at all."""
    for _ in range(3):
        waiting = [one for one in town.store.tables.requests.values() if one.state is RequestState.WAITING]
        if waiting:
            return town.random.choice(waiting)
        ask(town, town.random.choice([LoanKind.BORROW, LoanKind.TRANSFER]), town.random.choice([2, 3, 4]))
    known = list(town.store.tables.requests.values())
    return town.random.choice(known)


def an_approver(town: Town, request: QuotaRequest) -> str:
    """Somebody who may give the open step, as far as this town knows."""
    approvals = town.store.tables.approvals
    given = [one.who for one in approvals if (one.request, one.terms) == (request.id, request.terms)]
    open_steps = list(request.steps)
    left = list(given)
    while open_steps and len(left) >= open_steps[0].count:
        left = left[open_steps.pop(0).count :]
    who = open_steps[0].who if open_steps else "group:gpu-admins"
    if who.startswith("leads:"):
        return people.lead(who.removeprefix("leads:"))
    may = [one for one in people.ADMINS if one not in given and one != request.ask.requester]
    return town.random.choice(may or list(people.ADMINS))


def press(town: Town, what: str, who: str | None = None, request: QuotaRequest | None = None) -> Pressed:
    request = request or a_request(town)
    ticked = asks_for_tick(request, request.revision) and town.random.random() < 0.8
    return Pressed(request.id, request.revision, who or an_approver(town, request), what, request, ticked)


def do(town: Town, pressed: Pressed, process: Process | None = None, key: str | None = None) -> None:
    town.arrive(process or a_process(town), pressed.act, pressed.log, key)


def approve_one(town: Town, presses: int | None = None, request: QuotaRequest | None = None) -> None:
    """All approvals that a request needs, or only the first."""
    request = request or a_request(town)
    for _ in range(presses or town.random.choice([1, 3, 4])):
        pressed = press(town, "approve", request=request)
        do(town, pressed)
        if presses is None and town.random.random() < 0.3:
            again = town.store.tables.requests[request.id]
            do(town, press(town, "approve", pressed.who, again))  # the same person on the card as it is now
        request = town.store.tables.requests[request.id]
        if request.state is not RequestState.WAITING:
            return


def tick(town: Town) -> None:
    """An extra loan of more than there is; sometimes there is even less when the tick arrives."""
    waiting = [one for one in town.store.tables.requests.values() if one.state is RequestState.WAITING]
    extra = [one for one in waiting if one.ask.kind is LoanKind.EXTRA]
    if not extra:
        ask(town, LoanKind.EXTRA, 4)
        extra = [one for one in town.store.tables.requests.values() if one.ask.kind is LoanKind.EXTRA]
    if not extra:
        return
    number = town.random.choice(extra).id
    for _ in range(4):
        pressed = press(town, "approve", request=town.store.tables.requests[number])
        if town.random.random() < 0.3:
            cordon(town)
        do(town, pressed)


def deny_one(town: Town) -> None:
    do(town, press(town, "deny"))


def double_click(town: Town) -> None:
    """Two clicks of one person, and a redelivery of the first."""
    pressed = press(town, town.random.choice(["approve", "deny"]))
    first = town.new_key()
    for key in (first, None, first):
        do(town, pressed, key=key)


def race(town: Town) -> None:
    """One admin approves and another denies, on two replicas, one in the middle of the other's handling."""
    request = a_request(town)
    approver = an_approver(town, request)
    other = town.random.choice([one for one in people.ADMINS if one != approver])
    one, two = town.processes[0], town.processes[1]
    what = town.random.sample(["approve", "deny"], 2)

    def meanwhile() -> None:
        do(town, press(town, what[1], other, request), two)

    one.gate.plan(meanwhile, after=town.random.randrange(8), matches=town.random.choice(BETWEEN))
    do(town, press(town, what[0], approver, request), one)
    one.gate.clear()


BETWEEN = ("store.begin", "store.read", "store.committed", "chat.", "cluster.")
"""Passages at which nothing is held, so that somebody else may come between."""


def wrong_person(town: Town) -> None:
    """A guest, somebody of no team, the requester, the wrong lead: nobody of them decides."""
    request = a_request(town)
    strangers = [people.GUEST, people.NOBODY, people.NOBODY, request.ask.requester, people.member(request.ask.team)]
    who = town.random.choice(strangers)
    do(town, press(town, town.random.choice(["approve", "deny"]), who, request))


def withdraw(town: Town) -> None:
    request = a_request(town)
    who = town.random.choice([request.ask.requester, people.lead(request.ask.team), people.NOBODY])
    town.arrive(a_process(town), lambda world, key: withdraw_request(world, request.id, who, key))


# -- counter-offers ---------------------------------------------------------------------------------------------------


def offer(town: Town, who: str | None = None) -> None:
    """An approver offers less, shorter, later or another kind; sometimes more, or somebody offers who may not."""
    draw, request = town.random, a_request(town)
    out = [one.request for one in town.store.tables.offers.values() if one.state is OfferState.OPEN]
    if out and draw.random() < 0.4:  # a newer one of the same request
        request = town.store.tables.requests[out[-1]]
    ask = request.ask
    values = ChangeValues(
        amount=draw.choice([1, max(1, ask.amount - 1), ask.amount, ask.amount + 1]),
        kind=draw.choice([ask.kind, ask.kind, LoanKind.BORROW, LoanKind.TRANSFER]).value,
        lender=draw.choice([LENDER_BOT, ask.lender or LENDER_BOT]),
        until=draw.choice([AS_ASKED, AS_ASKED, AS_ASKED, "1h", "4h"]),
        start_at=draw.choice([ask.start, ask.start, town.clock() + 2 * HOUR]),
        words=f"{HOSTILE} {draw.randrange(1000)}",
    )
    strangers = [people.GUEST, people.NOBODY, request.ask.requester]
    user = who or (draw.choice(strangers) if draw.random() < 0.1 else an_approver(town, request))

    def act(world: World, key: str) -> Any:
        return make_offer(world, Change(request.id, request.revision, user, key, values))

    town.arrive(a_process(town), act, {"who": user, "what": "offer", "subject": f"Q-{request.id}"})


def an_offer(town: Town) -> Offer | None:
    """An open one if there is any, else one that is settled; one is made first if there is none at all."""
    for _ in range(3):
        known = list(town.store.tables.offers.values())
        still_open = [one for one in known if one.state is OfferState.OPEN]
        if still_open:
            return town.random.choice(still_open)
        offer(town)
    return town.random.choice(list(town.store.tables.offers.values()) or [None])


def answer_offer(town: Town, what: str, *, times: int = 1) -> None:
    """Mostly by the requester, else by the team's lead, the offerer, or somebody with no say."""
    found = an_offer(town)
    if found is None:
        return
    ask = town.store.tables.requests[found.request].ask
    others = [people.lead(ask.team), found.who, people.NOBODY]
    user = ask.requester if town.random.random() < 0.8 else town.random.choice(others)

    def act(world: World, key: str) -> str:
        press = OfferPress(found.id, user, key)
        return accept_offer(world, press) if what == "accept" else keep_request(world, press)

    for _ in range(times):
        town.arrive(a_process(town), act, {"who": user, "what": what, "subject": f"Q-{found.request}"})


def accept(town: Town) -> None:
    """Sometimes pressed twice."""
    answer_offer(town, "accept", times=town.random.choice([1, 1, 2]))


def keep(town: Town) -> None:
    answer_offer(town, "keep")


def offer_race(town: Town) -> None:
    """The requester accepts while an approver approves what was asked for, denies it, or offers something else."""
    found = an_offer(town)
    if found is None:
        return
    request = town.store.tables.requests[found.request]
    one, two = town.processes[0], town.processes[1]
    what = town.random.choice(["approve", "deny", "offer"])

    def meanwhile() -> None:
        if what == "offer":
            offer(town)
        else:
            do(town, press(town, what, None, town.store.tables.requests[request.id]), two)

    one.gate.plan(meanwhile, after=town.random.randrange(8), matches=town.random.choice(BETWEEN))
    user = request.ask.requester
    log = {"who": user, "what": "accept", "subject": f"Q-{request.id}"}
    town.arrive(one, lambda world, key: accept_offer(world, OfferPress(found.id, user, key)), log)
    one.gate.clear()


def lapse(town: Town) -> None:
    """Nobody decides for half a day."""
    town.pass_time(13 * HOUR)


# -- loans ------------------------------------------------------------------------------------------------------------


def a_loan(town: Town) -> Loan | None:
    loans = list(town.store.tables.loans.values())
    running = [loan for loan in loans if loan.state is LoanState.RUNNING]
    return town.random.choice(running or loans) if loans else None


def give_back(town: Town, part: bool) -> None:
    loan = a_loan(town)
    if loan is None:
        ask(town, LoanKind.TRANSFER, 1)
        return
    amount = 1 if part and loan.amount > 1 else None
    request = town.store.tables.requests[loan.id]
    who = town.random.choice([request.ask.requester, people.lead(request.ask.team)])
    town.arrive(a_process(town), lambda world, key: return_loan(world, loan.id, amount, who, key))


def return_all(town: Town) -> None:
    give_back(town, part=False)


def return_part(town: Town) -> None:
    give_back(town, part=True)


def extend(town: Town) -> None:
    """The requester, a lead or somebody else asks for more time, and often gets it."""
    loan = a_loan(town)
    if loan is None:
        ask(town, LoanKind.TRANSFER, 1)
        return
    request = town.store.tables.requests[loan.id]
    who = town.random.choice(
        [request.ask.requester, request.ask.requester, people.lead(request.ask.team), people.NOBODY]
    )
    longer = town.random.choice([HOUR, 3 * HOUR, 8 * HOUR])
    wish = (
        MoreTime(loan.id, by=longer) if town.random.random() < 0.7 else MoreTime(loan.id, until=town.clock() + longer)
    )
    town.arrive(a_process(town), lambda world, key: extend_loan(world, wish, who, key, key))
    waiting = [one for one in town.store.tables.requests.values() if one.extends and one.state is RequestState.WAITING]
    if waiting and town.random.random() < 0.6:
        approve_one(town, request=town.random.choice(waiting))


def ask_back(town: Town) -> None:
    """The lender's lead asks for a loan back, or somebody who may not; mostly somebody answers, sometimes twice."""
    loan = a_loan(town)
    if loan is None:
        ask(town, LoanKind.TRANSFER, 1)
        return
    draw, request = town.random, town.store.tables.requests[loan.id]
    leads = [people.lead(loan.lender)] * 4 if loan.lender else []
    who = draw.choice([*leads, people.NOBODY, request.ask.requester, *people.ADMINS[:1]])
    log = {"who": who, "what": "ask back", "subject": f"Q-{loan.id}"}
    town.arrive(a_process(town), lambda world, key: ask_for(world, loan.id, f"ours {HOSTILE}", who, key), log)
    if draw.random() < 0.3:
        give_back(town, part=True)
    for _ in range(draw.choice([0, 1, 2])):
        keep_on_loan(town)


def keep_on_loan(town: Town) -> None:
    """The borrower's side keeps what was asked back, or somebody with no say tries."""
    asked = list(town.store.tables.ask_backs.values())
    if not asked:
        return
    found = town.random.choice([one for one in asked if one.state is AskBackState.OPEN] or asked)
    team, requester = (ask := town.store.tables.requests[found.loan].ask).team, ask.requester
    who = town.random.choice([requester, requester, people.lead(team), found.who, people.NOBODY])
    log = {"who": who, "what": "keep loan", "subject": f"Q-{found.loan}"}
    town.arrive(a_process(town), lambda world, key: keep_loan(world, found.id, who, key), log)


def nobody_answers(town: Town) -> None:
    """For so long that others may decide too; then they do, or try to, sometimes after the policy changed."""
    request = a_request(town)
    town.pass_time((people.ESCALATES_AFTER_HOURS + town.random.choice([-1, 1, 1])) * HOUR)
    town.tend()
    if town.random.random() < 0.2:
        policy_reload(town)
    for _ in range(town.random.choice([1, 2])):
        now = town.store.tables.requests[request.id]
        do(town, press(town, town.random.choice(["approve", "approve", "deny"]), people.ONCALL, now))


def minutes_pass(town: Town) -> None:
    town.pass_time(timedelta(minutes=town.random.choice([1, 6, 12])))


def hours_pass(town: Town) -> None:
    town.pass_time(town.random.choice([HOUR, 2 * HOUR, 5 * HOUR]))


# -- what others do to the cluster ------------------------------------------------------------------------------------


def a_queue(town: Town) -> str:
    """One that loans are in, if there is any; a queue that was deleted is put back."""
    loans = [loan for loan in town.store.tables.loans.values() if loan.state is LoanState.RUNNING]
    named = [queue for loan in loans for queue in (loan.lender, loan.borrower) if queue]
    name: str = town.random.choice(named or list(QUEUES))
    if town.sim.cluster.get("clusterqueues", "", name) is None:
        others(town, lambda: town.add_queue(name, QUEUES[name]))
    return name


def others(town: Town, work: Callable[[], Any]) -> None:
    """Something that the API may refuse."""
    with suppress(ApiRefused, KeyError):
        work()
    town.log.drain()


def edit(town: Town, by: int) -> None:
    queue = a_queue(town)
    flavor = "a100" if queue == "gamma" or town.random.random() < 0.8 else "h100"
    manager = town.random.choice(MANAGERS)

    def moved(name: str) -> str:
        return str(max(0, int(town.sim._quota(queue, flavor, people.GPU)[0].get(name, 0)) + by))

    if town.random.random() < 0.25 and queue != "gamma":
        others(town, lambda: town.sim.hand_edit(queue, flavor, manager=manager, borrowing=moved("borrowingLimit")))
        return
    others(town, lambda: town.sim.hand_edit(queue, flavor, manager=manager, nominal=moved("nominalQuota")))


def edit_up(town: Town) -> None:
    edit(town, town.random.choice([1, 2, 3]))


def edit_down(town: Town) -> None:
    edit(town, -town.random.choice([1, 2, 3]))


def edit_and_strip(town: Town) -> None:
    """A number is changed and the annotation taken off."""
    edit(town, town.random.choice([-2, -1, 1, 2]))
    strip(town)


def gitops_revert(town: Town) -> None:
    queue = a_queue(town)
    others(town, lambda: town.sim.gitops_revert(queue))


def gitops_revert_strips(town: Town) -> None:
    queue = a_queue(town)
    others(town, lambda: town.sim.gitops_revert(queue, strip=True))


def strip(town: Town) -> None:
    queue = a_queue(town)
    gone: dict[str, Any] = {ANNOTATION: None}
    others(town, lambda: town.sim.annotate(queue, **gone))


def recreate(town: Town) -> None:
    """A queue is deleted and comes back with the numbers that Git has; sometimes the bot looks in between."""
    queue = a_queue(town)
    delete(town, queue)
    if town.random.random() < 0.5:
        town.tend()
    others(town, lambda: town.add_queue(queue, QUEUES[queue]))


def delete(town: Town, queue: str | None = None) -> None:
    """A queue is gone, until somebody needs it."""
    name = queue or a_queue(town)
    work.clear(town, name)
    others(town, lambda: town.sim.delete("clusterqueues", name))
    town.sim.reconcile()
    town.log.drain()


def move_cohort(town: Town) -> None:
    """A queue goes to another cohort, or comes back."""
    queue = a_queue(town)

    def move() -> None:
        cohort = "side" if town.sim.queue(queue)["spec"].get("cohortName") == "pool" else "pool"
        path = town.sim.path("clusterqueues", "", queue)
        body = {"spec": {"cohortName": cohort}}
        town.sim.request("PATCH", path, body, content_type="application/merge-patch+json")

    others(town, move)


def flavor_gone(town: Town) -> None:
    """A flavor is taken out of a queue, and sometimes comes back with Git's numbers, before the bot looks or after."""
    queue = a_queue(town)
    flavor = "a100" if queue == "gamma" or town.random.random() < 0.7 else "h100"
    if town.sim.cluster.get("clusterqueues", "", queue) is None:
        return  # the API did not take it back
    was = town.sim.queue(queue)["spec"]["resourceGroups"]

    def put(groups: Any) -> None:
        path = town.sim.path("clusterqueues", "", queue)
        body = {"spec": {"resourceGroups": groups}}
        town.sim.request("PATCH", path, body, content_type="application/merge-patch+json")

    left = [{**group, "flavors": [one for one in group["flavors"] if one["name"] != flavor]} for group in was]
    others(town, lambda: put([group for group in left if group["flavors"]]))
    if town.random.random() < 0.5:
        town.tend()
    if town.random.random() < 0.7:
        others(town, lambda: put(was if town.random.random() < 0.5 else first_groups(town, queue)))


def first_groups(town: Town, queue: str) -> Any:
    """What Git has of a queue."""
    uid = town.sim.queue(queue)["metadata"]["uid"]
    changes = town.sim.cluster.store.history("clusterqueues")
    return next(one.obj["spec"]["resourceGroups"] for one in changes if one.obj["metadata"]["uid"] == uid)


def kueue_takes_over(town: Town) -> None:
    """Kueue writes a queue's quotas itself from now on, with numbers of its own, and sometimes lets go at once."""
    queue = a_queue(town)
    others(town, lambda: town.automate(queue, effective=town.random.random() < 0.3))
    if town.random.random() < 0.5:
        town.tend()
    for _ in range(town.random.choice([0, 1, 1, 2])):
        number = str(town.random.randrange(12))
        others(town, lambda n=number: town.sim.hand_edit(queue, "a100", manager="kueue", nominal=n))  # type: ignore[misc]
    if town.random.random() < 0.3:
        kueue_lets_go(town)


def kueue_lets_go(town: Town) -> None:
    """Of every queue that it took over."""
    for queue in sorted(town.automated):
        others(town, lambda name=queue: town.let_go(name))  # type: ignore[misc]


# -- answers ----------------------------------------------------------------------------------------------------------


def open_questions(town: Town) -> list[FieldRecord]:
    """Fields that wait for an answer, as the database has them."""
    return [record for record in town.store.tables.records.values() if record.question is not None]


def answer(town: Town, kind: AnswerKind, record: FieldRecord | None = None, who: str | None = None) -> None:
    """An admin presses one of the three buttons, sometimes somebody else does."""
    if record is None:
        if not open_questions(town):
            edit_up(town)
            town.tend()
        asked = open_questions(town)
        if not asked:
            return
        record = town.random.choice(asked)
    assert record.question is not None
    prefix = f"edit:{'/'.join(record.key)}:{record.question.uid}:"
    asked_in = [row.notice for key, row in town.store.tables.notices.items() if key.startswith(prefix)]
    if not asked_in:
        return
    user = who or town.random.choice([*people.ADMINS, *people.ADMINS, people.NOBODY])
    question, revision = asked_in[-1].id, record.version

    def act(world: World, key: str) -> str:
        return answer_edit(world, EditPress(question, revision, kind, user, key))

    town.arrive(a_process(town), act, {"who": user, "what": "answer", "subject": "/".join(record.key)})


def answer_new_base(town: Town) -> None:
    answer(town, AnswerKind.NEW_BASE)


def answer_included(town: Town) -> None:
    answer(town, AnswerKind.INCLUDED)


def answer_put_back(town: Town) -> None:
    answer(town, AnswerKind.PUT_BACK)


# -- the bot's own life -----------------------------------------------------------------------------------------------


def policy_reload(town: Town) -> None:
    """The other policy, or other people in the admins' user group."""
    if town.random.random() < 0.5:
        town.policy_version = 1 - town.policy_version
        town.policies.policy = town.policy_of(town.policy_version)
        town.tell_people()
    else:
        town.set_people(tuple(town.random.sample(people.ADMINS, 2)))


def leader_change(town: Town) -> None:
    """The lease runs out and another replica takes over."""
    town.pass_time(timedelta(seconds=31))
    town.processes.reverse()


def restart(town: Town) -> None:
    """A process is stopped and another one started."""
    town.bury(town.first)
    town.pass_time(timedelta(seconds=31))


def late_landing(town: Town) -> None:
    """A request that timed out long ago is handled now."""
    while town.late and town.random.random() < 0.8:
        town.late.pop(town.random.randrange(len(town.late)))()
    town.log.drain()


def pause(town: Town) -> None:
    """An admin stops quota changes, sometimes in the middle of a step of convergence; or somebody who may not tries."""
    who = town.random.choice([*people.ADMINS, *people.ADMINS, people.NOBODY])

    def stop() -> None:
        town.arrive(town.processes[1], lambda world, key: pause_quota(world, f"because {HOSTILE}", who, key))

    if town.random.random() < 0.5:
        stop()
        return
    ask(town, LoanKind.TRANSFER, town.random.choice([1, 2]), at_once=True)
    approve_one(town, presses=4)
    town.first.gate.plan(
        stop, after=town.random.randrange(6), matches=town.random.choice(("store.committed", "cluster."))
    )
    town.tend()
    town.first.gate.clear()


def resume(town: Town) -> None:
    """An admin lets them go on, or somebody who may not tries."""
    who = town.random.choice([*people.ADMINS, *people.ADMINS, people.NOBODY])
    town.arrive(a_process(town), lambda world, key: resume_quota(world, who, key))


STEPS: dict[str, Step] = {
    "ask borrow": ask_borrow,
    "ask transfer": ask_transfer,
    "ask extra": ask_extra,
    "ask series": ask_series,
    "stop series": stop_series,
    "tick over-commit": tick,
    "cordon node": cordon,
    "approve": approve_one,
    "deny": deny_one,
    "double click": double_click,
    "two admins race": race,
    "wrong person": wrong_person,
    "offer": offer,
    "accept offer": accept,
    "keep what was asked": keep,
    "accept and decide race": offer_race,
    "withdraw": withdraw,
    "request lapses": lapse,
    "return all": return_all,
    "return part": return_part,
    "extend": extend,
    "loans lie idle": lie_idle,
    "return what is idle": return_what_is_idle,
    "keep what is idle": keep_what_is_idle,
    "a job begins": work_begins,
    "a job is done": work_ends,
    "submit work": work.submit,
    "loan ends with work": lambda town: work.end_with_work(town, approve_one),
    "work ends": work.end_some,
    "extend after the end": work.extend_after_end,
    "ask back": ask_back,
    "keep on loan": keep_on_loan,
    "nobody answers": nobody_answers,
    "minutes pass": minutes_pass,
    "hours pass": hours_pass,
    "edit up": edit_up,
    "edit down": edit_down,
    "edit and strip": edit_and_strip,
    "GitOps reverts": gitops_revert,
    "GitOps reverts, strips": gitops_revert_strips,
    "strip annotation": strip,
    "delete queue": delete,
    "re-create queue": recreate,
    "move to other cohort": move_cohort,
    "flavor removed": flavor_gone,
    "Kueue takes over": kueue_takes_over,
    "Kueue lets go": kueue_lets_go,
    "answer: new base": answer_new_base,
    "answer: included": answer_included,
    "answer: put back": answer_put_back,
    "pause": pause,
    "resume": resume,
    "policy reload": policy_reload,
    "leader change": leader_change,
    "process restart": restart,
    "late landing": late_landing,
}
"""All kinds of step, by the names that the coverage table prints."""
