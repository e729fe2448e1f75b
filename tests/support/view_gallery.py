"""One of every message and modal that the bot can show, under any names: what the tests about all of them walk over."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from bot.core.evictions import EvictionState
from bot.core.explanation import StepStanding
from bot.core.impact import AtRisk, Workers
from bot.core.kueue import Preemption, QueueSnapshot
from bot.core.loans import LoanEnd, LoanKind, LoanState
from bot.core.messages import Message, Modal
from bot.core.offers import OfferState
from bot.core.overcommit import Overcommit
from bot.core.pause import Pause
from bot.core.requests import AuditEntry, RequestState
from bot.core.standing import Blocker
from bot.core.wording.faults import UsageFault
from bot.views import (
    change_form,
    direct,
    loan_trouble,
    lost_names,
    offers,
    pause,
    platform,
    refusals,
    reminders,
    thread_lines,
)
from bot.views import evictions as eviction_views
from bot.views import series as series_views
from bot.views.answers import done
from bot.views.answers.audit_log import LogFacts, audit_log, log_sent
from bot.views.answers.explain import ExplainFacts, StepLine, WhatIf, explained, what_if
from bot.views.answers.help import CommandHelp, help_command, help_overview
from bot.views.answers.requests_list import ListFacts, requests_list
from bot.views.answers.show import FlavorFigures, LoanPart, OpenRequest, ShowFacts, show
from bot.views.answers.status import QueueUse, StatusFacts, TeamStatus, status
from bot.views.answers.usage import usage_fault
from bot.views.deny_form import deny_form
from bot.views.details import DetailsFacts, QueueFigures, details
from bot.views.edit_question import edit_question
from bot.views.extend_form import extend_form
from bot.views.facts import CardFacts, Escalated, Late, Pressed, Returned, SeriesFacts, Surface, Worse
from bot.views.ids import UNTIL_DATE, Field
from bot.views.kit import line
from bot.views.overcommit_form import overcommit_form
from bot.views.parts import Channel, Group, Theirs
from bot.views.proposals import proposal, proposal_waits
from bot.views.repeat import as_a_repeat, as_late
from bot.views.request_card import card, extend_button, return_button
from bot.views.request_form import (
    FlavorChoice,
    FormError,
    FormFacts,
    FormPicture,
    FormValues,
    LenderChoice,
    QueueChoice,
    checking,
    form,
    loading,
    not_sent,
    sent,
)
from bot.views.return_form import return_form
from bot.views.said import said
from tests.support.view_alerts import alerts_gallery
from tests.support.view_evictions import evictions
from tests.support.view_facts import NAMES, Names, World, at
from tests.support.view_idle import idle_gallery
from tests.support.view_proposals import proposed
from tests.support.view_questions import question
from tests.support.view_readiness import readiness_gallery
from tests.support.view_unanswered import asked_back, unanswered

COMMANDS = (
    CommandHelp("request", "Ask", "Ask for quota.", "request [N] [FLAVOR]", ("request 8 a100 for 3d because paper",)),
    CommandHelp("return", "Ask", "Give quota back early.", "return [Q] [N]", ("return Q-142", "return Q-142 4")),
    CommandHelp("withdraw", "Ask", "Take a request back.", "withdraw [Q]", ("withdraw Q-142",)),
    CommandHelp("status", "Look", "How your teams stand.", "status [QUEUE]", ("status",)),
    CommandHelp("list", "Look", "Requests and loans.", "list [mine | team]", ("list",)),
    CommandHelp("show", "Look", "One queue.", "show QUEUE", ("show vision",)),
)


def everything(names: Names = NAMES) -> dict[str, Message | Modal]:
    """Every view at least once, by a name that says which."""
    shown: dict[str, Message | Modal] = {}
    for kind in (LoanKind.TRANSFER, LoanKind.BORROW):
        world = World(names, kind)
        for part in (_cards, _direct, _modals, _answers, idle_gallery, readiness_gallery):
            shown.update({f"{kind} {name}": one for name, one in part(world)})
    return shown | dict(
        (*alerts_gallery(names), *_questions(names), *_troubles(names), *_refusals(names), *_platform(names))
    )


def cards(world: World) -> dict[str, CardFacts]:
    """A card in every state."""
    names = world.names
    pressed = Pressed(world.admin, at("14:18"))
    worse = Worse(pressed, at("14:05"), (4, 0), (AtRisk(names.work, 4),), (names.vendor,))
    early = world.loan(in_force_at=None)
    denied = world.request(RequestState.DENIED, words=names.denial, decided_by="UADMIN")
    by_rule = world.request(RequestState.DENIED, words=names.denial, decided_by=f"rule:{names.rule}")
    auto = world.request(RequestState.APPROVED, decided_by=f"rule:{names.rule}")
    back = Returned(world.requester, at("09:00", 3), 4)
    late = Late(at("14:40", 5), timedelta(minutes=20), "the bot was down")
    risk = world.impact(
        managed_by=((names.queue, names.tool), (names.lender, names.tool)),
        stopped=(names.queue,),
        free=0,
        workers=Workers(names.queue),
    )
    return {
        "waiting": world.card(cluster=names.queue, unreachable=names.queue, notes=("A line.",)),
        "one given": world.card(impact=risk, approvals=world.given(1)),
        "workers not known": world.card(impact=world.impact(workers=Workers(names.queue, names.vendor))),
        "no figures": world.card(impact=None, no_figures_since=at("13:58")),
        "checking": world.card(checking=pressed),
        "worse": world.card(worse=worse),
        "offered": world.card(offered=world.offered()),
        "one given, offered": world.card(offered=world.offered(), approvals=world.given(1)),
        "worse, offered": world.card(worse=worse, offered=world.offered()),
        "waiting, changed": world.card(asked_first=world.offer().instead),
        "waiting, paused": world.card(pause=Pause("UADMIN", names.admin, at("13:50"), names.reason)),
        "waiting, escalated": world.card(escalated=Escalated(names.admin_step, at("22:05"), "8 h without an answer")),
        "waiting, escalated to a group": world.card(
            escalated=Escalated(names.admin_step, at("22:05"), "8 h without an answer", Group("S0ONCALL", names.lead))
        ),
        "denied": world.card(denied, decider=world.admin),
        "denied by rule": world.card(by_rule),
        "withdrawn": world.card(world.request(RequestState.WITHDRAWN), decider=world.requester),
        "lapsed": world.card(world.request(RequestState.LAPSED)),
        "lapsed, name gone": world.card(world.request(RequestState.LAPSED, words=names.vendor, decided_at=at("14:20"))),
        "observed": world.approved(observe=True),
        "starts later": world.approved(world.loan(state=LoanState.SCHEDULED, start=at("18:00", 4), in_force_at=None)),
        "being put in force": world.approved(early, world.standing()),
        **{
            f"blocked: {one}": world.approved(early, world.blocked(one, words=names.vendor))
            for one in (
                Blocker.API_DOWN,
                Blocker.KUEUE_DOWN,
                Blocker.NO_RIGHT,
                Blocker.REFUSED,
                Blocker.AUTOMATED,
                Blocker.SHORT,
                Blocker.PAUSED,
            )
        },
        "reverted": world.approved(standing=world.blocked(Blocker.IN_QUESTION, words=names.manager)),
        "edited": world.approved(standing=world.blocked(Blocker.IN_QUESTION, 4, words=names.manager)),
        "suspended": world.approved(world.loan(suspended=names.vendor), world.standing(0)),
        "in force": world.approved(standing=world.standing()),
        "in force, resource quota": world.approved(standing=world.standing(beside=world.room())),
        "in force, resource quota edited": world.approved(standing=world.standing(beside=world.room(in_question=True))),
        "in force, resource quota late": world.approved(standing=world.standing(beside=world.room(0))),
        "in force, no resource quota": world.approved(
            standing=world.standing(beside=world.room(0, blocked=world.names.vendor))
        ),
        "ended, resource quota edited": world.approved(
            world.over(), world.standing(0, beside=world.room(in_question=True))
        ),
        "ended, resource quota not lowered": world.approved(
            world.over(), world.standing(0, beside=world.room(blocked=world.names.vendor))
        ),
        "in force by rule": world.approved(request=auto, standing=world.standing()),
        "returned in part": world.approved(world.loan(amount=4), world.standing(4), returned=(back,)),
        "ended": world.approved(world.over(), world.standing(0)),
        "ended, runs on": world.approved(world.over(), world.runs_on()),
        "ended late": world.approved(world.over(), world.standing(0), late=late, clear_since=at("16:05", 5)),
        "ended by admin": world.approved(
            world.over(LoanEnd.ENDED_BY_ADMIN), decider=world.admin, end_words=names.denial
        ),
        "ended, blocked": world.approved(world.over(), world.blocked(Blocker.NO_RIGHT, 8, words=names.vendor)),
        "ended, in question": world.approved(world.over(), world.blocked(Blocker.IN_QUESTION, 4, words=names.manager)),
        "ended, lender waits": world.approved(world.over(), world.standing(0, lowered=8)),
        "extension waits": world.approved(standing=world.standing(), extension=world.extension()),
        **extensions(world),
        **series(world),
        "returned": world.approved(
            world.over(LoanEnd.RETURNED, at("09:00", 3)), world.runs_on(), decider=world.requester, returned=(back,)
        ),
    }


def series(world: World) -> dict[str, CardFacts]:
    """The card of a series: it waits, its second time runs, one comes next, all are over."""
    asked = world.ask(start=at("18:00", 4), until=at("08:00", 7), duration=None, series=world.series())
    waits = world.request(ask=asked)
    given = world.request(RequestState.APPROVED, ask=asked)
    facts = SeriesFacts(142, 2, 4, 2, at("18:00", 18), at("08:00", 28))
    second = world.loan(id=144, start=at("18:00", 11), end=at("08:00", 14))
    later = replace(second, state=LoanState.SCHEDULED, in_force_at=None)
    over = replace(facts, place=4, to_come=0, following=None)
    return {
        "series, waiting": world.card(waits),
        "series in force": world.approved(second, world.standing(), request=given, series=facts),
        "series, last in force": world.approved(second, world.standing(), request=given, series=over),
        "series, next": world.approved(later, None, request=given, series=replace(facts, place=3)),
        "series over": world.approved(world.over(), world.standing(0), request=given, series=over),
    }


def extensions(world: World) -> dict[str, CardFacts]:
    """The card of an extension in every state."""
    names = world.names
    by_rule = f"rule:{names.rule}"
    over, changed = at("14:20", 4), {"decided_at": at("14:20", 4)}
    made = {
        "waiting": world.extension(),
        "approved": world.extension(RequestState.APPROVED),
        "approved by rule": world.extension(RequestState.APPROVED, decided_by=by_rule),
        "denied": world.extension(RequestState.DENIED, words=names.denial, decided_by="UADMIN"),
        "denied by rule": world.extension(RequestState.DENIED, words=names.denial, decided_by=by_rule),
        "withdrawn": world.extension(RequestState.WITHDRAWN),
        "lapsed": world.extension(RequestState.LAPSED, decided_at=at("14:05", 5)),
        "lapsed with its loan": world.extension(RequestState.LAPSED, **changed),
    }
    loans = {"lapsed with its loan": world.over(LoanEnd.ENDED_BY_ADMIN, over)}
    deciders = {"denied": world.admin, "withdrawn": world.requester}
    return {
        f"extension {name}": world.card(
            request,
            impact=None,
            loan=loans.get(name, world.loan()),
            decider=deciders.get(name),
            approvals=world.given() if name == "approved" else (),
        )
        for name, request in made.items()
    }


def _cards(world: World) -> Iterator[tuple[str, Message]]:
    for name, facts in cards(world).items():
        for surface in Surface:
            yield f"card {name} {surface}", card(facts, surface)


def _evictions(world: World) -> Iterator[tuple[str, Message]]:
    for name, facts in evictions(world.names).items():
        yield f"dm eviction {name}", eviction_views.announced(facts)
        if facts.eviction.state is EvictionState.ANNOUNCED:
            yield f"answer prolonged, {name}", eviction_views.prolonged(facts.eviction)
        if facts.eviction.state not in {EvictionState.DUE, EvictionState.ANNOUNCED}:
            yield f"dm evicted {name}", eviction_views.evicted(facts)
            yield f"dm eviction undone {name}", eviction_views.undone(facts)


def _direct(world: World) -> Iterator[tuple[str, Message]]:
    states = cards(world)
    yield "dm in force", direct.in_force(states["in force"])
    yield "dm in force by rule", direct.in_force(states["in force by rule"])
    for name in ("starts later", "being put in force", "blocked: api down", "blocked: refused", "blocked: paused"):
        yield f"dm waits, {name}", direct.waits(states[name])
    yield "dm in force later", direct.in_force_later(replace(states["in force"], late=states["ended late"].late))
    yield from _offers(world)
    for name in ("denied", "denied by rule"):
        yield f"dm {name}", direct.denied(states[name])
    for name in ("series, next", "series over"):
        yield f"dm {name} approved", series_views.approved(states[name])
        yield f"dm {name} stopped", series_views.stopped(states[name])
    one = replace(states["in force"], series=states["series in force"].series)
    yield "dm time of a series in force", direct.in_force(one)
    yield from asked_back(world)
    yield from unanswered(world)
    yield "dm lapsed", direct.lapsed(states["lapsed"])
    yield "dm withdrawn", direct.withdrawn(states["withdrawn"])
    yield "dm extended", direct.extended(states["extension approved"])
    yield "dm extended by rule", direct.extended(states["extension approved by rule"])
    for name in ("denied", "denied by rule"):
        yield f"dm extension {name}", direct.denied(states[f"extension {name}"])
    yield "dm extension lapsed", direct.lapsed(states["extension lapsed"])
    yield "dm extension withdrawn", direct.withdrawn(states["extension withdrawn"])
    for name in ("reverted", "edited", "blocked: short"):
        yield f"dm not in force, {name}", direct.not_in_force(states[name])
    for name in ("ended", "ended, runs on", "ended late", "ended, blocked", "ended, in question", "ended by admin"):
        yield f"dm {name}", direct.ended(states[name])
        yield f"dm lender {name}", direct.back(states[name])
        yield f"dm lender waits {name}", direct.lender_waits(states[name])
    for name in ("returned", "returned in part"):
        yield f"dm {name}", direct.returned(states[name])
    yield "dm lent", direct.lent(states["in force"])
    yield from _evictions(world)
    above = reminders.Above(8, (AtRisk(world.names.work, 8),))
    ending = reminders.Ending(world.loan(), above)
    many = [replace(ending, loan=world.loan(id=number, amount=1)) for number in range(142, 149)]
    for view in (reminders.day_before, reminders.hour_before):
        for name, endings in (("", [ending]), (", no figures", [replace(ending, above=None)]), (", several", many)):
            yield f"{'many' if endings is many else 'dm'} {view.__name__}{name}", view(endings)


def _offers(world: World) -> Iterator[tuple[str, Message]]:
    card, asked = world.card(), world.offer().instead
    later = replace(asked, start=at("18:00", 4), duration=None, until=at("18:00", 5))
    kind = LoanKind.TRANSFER if world.borrows else LoanKind.BORROW
    other = replace(asked, kind=kind, lender=world.names.lender if world.borrows else None)
    yield "dm offer", offers.counter_offer(card, world.offered())
    yield "dm offer, no words", offers.counter_offer(card, world.offered(words=""))
    yield "dm offer, later", offers.counter_offer(card, world.offered(terms=later))
    yield "dm offer, other kind", offers.counter_offer(card, world.offered(terms=other))
    for state in OfferState:
        if state is not OfferState.OPEN:
            yield f"dm offer {state}", offers.counter_offer(card, world.settled(state))
    lapsed = world.card(world.request(RequestState.LAPSED))
    yield "dm offer, lapsed", offers.counter_offer(lapsed, world.offered(state=OfferState.VOID, settled_by="bot"))
    for state in (OfferState.ACCEPTED, OfferState.KEPT):
        yield f"dm offerer {state}", offers.offer_answered(card, world.settled(state))
    yield "dm offer void", offers.offer_void(card, world.settled(OfferState.VOID))


def _change_forms(world: World) -> Iterator[tuple[str, Modal]]:
    names, ask = world.names, world.ask()
    values = change_form.ChangeValues(8, world.kind.value, names.lender, words=names.denial)
    lenders = (LenderChoice(names.lender, 8), LenderChoice(names.queue, None))
    kinds = (LoanKind.BORROW, LoanKind.TRANSFER)
    days = timedelta(days=3)
    facts = change_form.ChangeFacts(world.request(), world.requester, values, days, kinds, lenders)
    yield "form change", change_form.change_form(facts)
    dates = replace(values, amount=20, until="36h", until_at=at("18:00", 4), start_at=at("18:00"), words="")
    problem = FormError(names.vendor, Field.CHANGE_AMOUNT)
    until = world.request(ask=replace(ask, duration=None, until=at("18:00", 5), start=at("18:00")))
    yield "form change error", change_form.change_form(replace(facts, request=until, values=dates, error=problem))
    yield "form change loading", change_form.loading(142)
    yield "form change checking", change_form.checking(142)
    yield "form change offered", change_form.offered(world.offer(), world.request(), world.requester)
    yield "form change refused", change_form.not_offered(142, refusals.refused(names.vendor))


def _modals(world: World) -> Iterator[tuple[str, Modal]]:
    names = world.names
    queues = (QueueChoice(names.queue, names.lender),)
    values = FormValues(names.queue, names.flavor, 8, "auto", "3d", None, "auto", None, names.reason)
    facts = FormFacts("d1", queues, (FlavorChoice(names.flavor, names.flavor),), values, most=16, longest=timedelta(14))
    picture = FormPicture(names.flavor, names.cohort, names.queue, 4, at("14:05"), world.kind, world.steps())
    yield "form loading", loading("d1")
    yield "form checking", checking("d1")
    yield "form not sent", not_sent("the database is not answering")
    yield "form sent", sent(world.request(), "CAPPROVALS")
    yield "form empty", form(replace(facts, values=FormValues(), flavors=(), checking=True))
    yield "form nobody", form(replace(facts, queues=()))
    yield "form", form(replace(facts, picture=replace(picture, managed_by=((names.queue, names.tool),))))
    yield "form denied", form(replace(facts, picture=replace(picture, denied=names.denial)))
    yield "form unlimited", form(replace(facts, picture=replace(picture, unlimited=True, free=None)))
    yield "form rule", form(replace(facts, picture=replace(picture, rule=names.rule, free=0)))
    yield (
        "form error",
        form(replace(facts, error=FormError(names.vendor, Field.AMOUNT), values=replace(values, amount=20))),
    )
    dates = replace(values, until=UNTIL_DATE, until_at=at("18:00", 4), start_at=at("18:00"), lender=names.lender)
    yield "form more", form(replace(facts, values=dates, more=True, lenders=(LenderChoice(names.lender, 8),)))
    yield from _change_forms(world)
    found = Overcommit(72, 60, 4)
    over = world.card(impact=world.impact(kind=LoanKind.EXTRA, lender=None, overcommit=found))
    yield "form extra", form(replace(facts, picture=replace(picture, overcommit=found)))
    yield "form over-commit", overcommit_form(over)
    yield "form over-commit, no figures", overcommit_form(world.card(impact=None))
    yield "details extra", details(DetailsFacts(over))
    yield "deny form", deny_form(world.request(), names.requester)
    yield "return form", return_form(world.loan(), 8)
    yield "extend form", extend_form(world.loan(), timedelta(days=14))
    yield "extend form, nothing left", extend_form(world.loan(), timedelta(days=3))
    yield "deny form, extension", deny_form(world.extension(), names.requester)
    figures = (QueueFigures(names.queue, 16, 20, 4, 12), QueueFigures(names.lender, 24, 16, 0, 0))
    gitops = world.impact(managed_by=((names.queue, names.tool),))
    behind = world.card(impact=gitops)
    yield "details", details(DetailsFacts(behind, (names.denial,), figures, (names.reason,), 10, 24))


def _answers(world: World) -> Iterator[tuple[str, Message]]:
    names = world.names
    rows = tuple(cards(world).values())
    loans = (
        LoanPart(142, 8, names.lender, at("14:20", 5)),
        LoanPart(143, -2, names.lender, at("14:20", 5), in_force=False),
    )
    one = FlavorFigures(names.flavor, 24, 16, 20, 4, 8, 12, 28, 4, loans=loans, requests=(OpenRequest(144, 8, 0, 2),))
    queue = QueueSnapshot(
        "default", names.queue, "u1", "1", 1, {}, names.cohort, pending_workloads=2, fair_weight=names.flavor,
        preemption=Preemption(reclaim_within_cohort=names.tool), stop_policy=names.tool, managed_by=names.tool,
        active=False,
    )  # fmt: skip
    yield (
        "answer show",
        show(ShowFacts(queue, (one, replace(one, borrowing_limit=None, lending_limit=None)), at("14:05"))),
    )
    yield "answer show nothing", show(ShowFacts(replace(queue, cohort=None), (), at("14:05"), may_request=False))
    yield "answer list", requests_list(ListFacts(rows, "of your teams", at("14:05")))
    yield "answer list empty", requests_list(ListFacts((), "yours", at("14:05")))
    yield "answer list empty, narrowed", requests_list(ListFacts((), "waiting", at("14:05"), filtered=True))
    waiting = tuple(facts for facts in rows if facts.request.state is RequestState.WAITING)
    running = tuple(facts for facts in rows if facts.loan)
    use = QueueUse(names.queue, names.flavor, 20, 16, 12)
    teams = (TeamStatus(names.queue, (use, use), waiting, running), TeamStatus(names.lender))
    yield "answer status", status(StatusFacts(teams, at("14:05"), ("The API server is not answering",)))
    yield "answer status, no team", status(StatusFacts((), at("14:05")))
    yield "answer help", help_overview(COMMANDS, ("bills (no Prometheus)",))
    yield "answer help request", help_command(COMMANDS[0], "Most per request 16, longest 14 days")
    fault = UsageFault(names.vendor, f"  {names.reason[:38]}", "  ^^", f"/gpu-quota request 8 {names.flavor}")
    yield "answer usage", usage_fault(fault)
    yield "answer extension sent", done.extension_sent(world.extension(), "CAPPROVALS", (names.reason,))
    auto = world.extension(RequestState.APPROVED, decided_by=f"rule:{names.rule}")
    yield "answer extended by rule", done.extension_sent(auto, None)
    yield "answer ask how long", done.ask_how_long(world.loan())
    steps = (
        StepLine(StepStanding(names.lead_step, 1, (world.lead.id,)), (world.lead,)),
        StepLine(StepStanding(names.admin_step, 2, (), (world.admin.id,) * 7), may=(world.admin,) * 5),
        StepLine(StepStanding(names.admin_step, 1, unknown=True)),
    )
    for state in ("one given", "denied", "in force"):
        why = (names.denial, names.reason)
        explains = ExplainFacts(cards(world)[state], why, steps, dead_end=names.denial, then=names.rule)
        yield f"answer explain, {state}", explained(explains)
    yield "answer explain, what if", what_if(WhatIf(world.ask(), (names.denial,), steps, (names.reason,)))
    entry = AuditEntry(at("14:05"), "U1", names.tool, names.queue, names.vendor)
    log = LogFacts((entry, replace(entry, who="bot", outcome="ok")), {"U1": world.admin}, more=True, about=world.admin)
    yield "answer log", audit_log(log)
    stop = Pause("UADMIN", names.admin, at("13:50"), names.reason)
    for view in (pause.paused, pause.resumed, pause.paused_already):
        yield f"answer {view.__name__}", view(stop)
    yield "answer status, paused", status(StatusFacts(teams, at("14:05"), pause=stop))
    yield "answer help, paused", help_overview(COMMANDS, pause=stop)
    yield "answer log sent", log_sent(1_204)
    yield "answer log of a team", audit_log(replace(log, about=names.queue, more=False, last=timedelta(days=7)))
    yield "answer log, nothing", audit_log(LogFacts((), {}, about=names.queue))
    yield "answer request sent", done.request_sent(world.request(), "CAPPROVALS", (names.reason,))
    yield "answer withdrawn", done.request_withdrawn(world.request())
    stopped = world.request(RequestState.APPROVED, ask=world.ask(series=world.series()))
    yield "answer series stopped", done.request_withdrawn(stopped)
    yield "answer ended by admin", done.loan_ended(world.over(LoanEnd.ENDED_BY_ADMIN))
    yield "answer returned", done.loan_returned(world.loan(), 4)
    yield "answer confirm return", done.confirm_return(world.loan())


def _questions(names: Names) -> Iterator[tuple[str, Message]]:
    for name, facts in question(names).items():
        yield f"question {name}", edit_question(facts)
    for name, stands in proposed(names).items():
        yield f"proposal {name}", proposal(stands)
        yield f"proposal waits, {name}", proposal_waits(stands)


def _troubles(names: Names) -> Iterator[tuple[str, Message]]:
    world = World(names)
    trouble = loan_trouble.QueueTrouble(
        names.queue, at("14:02"), (142, 143), names.cohort, names.flavor, names.vendor, before=20, after=None
    )
    for view in (
        loan_trouble.annotation_stripped,
        loan_trouble.other_install,
        loan_trouble.missing_right,
        loan_trouble.write_refused,
        loan_trouble.not_whole,
        loan_trouble.lending_limit_moved,
        loan_trouble.kueue_writes_quota,
    ):
        yield view.__name__, view(trouble)
    beside = replace(trouble, queue=f"{names.queue}/gpu", flavor=None)
    for view in (
        loan_trouble.no_resource_quota,
        loan_trouble.keys_without_effect,
        loan_trouble.missing_right,
        loan_trouble.write_refused,
    ):
        yield f"{view.__name__}, resource quota", view(beside)
    unread = platform.Unreadable(at("14:02"), names.vendor, "get", "resourcequotas", names.cohort)
    yield "cannot read, resource quota", platform.cannot_read(unread)
    ended = replace(trouble, ended=(142, 143), words=f"MultiKueue {names.vendor}")
    yield "Kueue writes quota, ended", loan_trouble.kueue_writes_quota(ended)
    yield "Kueue writes quota no more", loan_trouble.kueue_writes_quota(replace(ended, over_since=at("16:12")))
    stands = lost_names.LostStanding((142, 143), (144,), (145,), at("14:20"))
    gone = lost_names.name_gone(f"team {names.queue} is not in the policy any more", stands)
    yield "name gone", gone
    yield "name gone, nothing on loan", lost_names.name_gone(names.vendor, lost_names.LostStanding())
    yield "name back", lost_names.name_back(f"team {names.queue}", stands)
    yield "in place of a person", lost_names.in_place_of(gone, Theirs(names.admin), names.vendor)
    yield "in place of a channel", lost_names.in_place_of(gone, Channel("C0TEAM", "another channel"), "is_archived")
    unreadable = platform.Unreadable(at("14:02"), names.vendor, "list", "workloads.kueue.x-k8s.io", names.cohort)
    yield "cannot read", platform.cannot_read(unreadable)
    yield "cannot read, no right", platform.cannot_read(platform.Unreadable(at("14:02"), names.vendor))
    yield "suspended", loan_trouble.suspended(world.loan(), names.vendor, at("14:02"))
    yield "short", loan_trouble.short(world.loan(), 2, 2)
    for kind in thread_lines.EventKind:
        event = thread_lines.ThreadEvent(kind, at("14:12"), world.lead, names.vendor, names.reason)
        yield f"thread {kind}", thread_lines.thread_line(event)
        yield f"thread {kind}, nobody", thread_lines.thread_line(thread_lines.ThreadEvent(kind, at("14:12")))
    step = world.steps()[0]
    yield "next step", thread_lines.next_step(world.card(), thread_lines.Asked(step, (world.lead, world.admin)))
    group = thread_lines.Asked(step, group=Group("SADMINS", names.admin_step))
    yield "next step, group", thread_lines.next_step(world.card(), group)


def _refusals(names: Names) -> Iterator[tuple[str, Message]]:
    world = World(names)
    first = refusals.Decided("Q-142", refusals.Outcome.DENIED, at("14:18"), world.lead, words=names.denial)
    yield "refusal refused", refusals.refused(names.vendor)
    yield "refusal said", said(names.vendor)
    yield "refusal repeated", as_a_repeat(said(names.vendor))
    yield "refusal late", as_late(said(names.vendor), at("14:02"))
    yield "refusal decided", refusals.already_decided(first)
    by_rule = refusals.Decided("Q-142", refusals.Outcome.APPROVED, at("14:20"), rule=names.rule)
    yield "refusal decided by rule", refusals.already_decided(by_rule)
    yield "refusal changing", refusals.being_changed(142, world.admin)
    yield "refusal in force already", refusals.in_force_already(world.loan())
    loans = (world.loan(), world.loan(id=143))
    yield "refusal which loan", refusals.which_loan(loans, line("Which one goes back?"), return_button)
    yield "refusal which loan to extend", refusals.which_loan(loans, line("Which one ends later?"), extend_button)
    yield "refusal extension waits", refusals.extension_waits(world.extension())
    yield "refusal which extension", refusals.which_request((world.extension(),))
    yield "refusal which request", refusals.which_request((world.request(), world.request(id=143)))
    yield "refusal not recorded", refusals.not_recorded()
    yield "refusal slow", refusals.slow_answer()
    yield "refusal unexpected", refusals.failed("7F3A-21", nothing_changed=True)
    yield "refusal unexpected, doubtful", refusals.failed("7F3A-21", nothing_changed=False, request=142)


def _platform(names: Names) -> Iterator[tuple[str, Message]]:
    held = (platform.Held(142, platform.Turn.START), platform.Held(139, platform.Turn.END, at("14:20")))
    late = timedelta(hours=1, minutes=52)
    caught = (
        platform.CaughtUp(142, platform.Turn.START, at("16:12"), timedelta(0)),
        platform.CaughtUp(139, platform.Turn.END, at("16:12"), late),
    )
    outage = platform.Outage(at("14:02"), at("16:12"), names.cohort, held, caught, 2, 3)
    for view in (
        platform.api_down,
        platform.api_back,
        platform.kueue_down,
        platform.kueue_back,
        platform.slack_back,
        platform.database_back,
        platform.bot_was_down,
    ):
        yield view.__name__, view(outage)
        yield f"{view.__name__}, bare", view(platform.Outage(at("14:02")))
    stop = Pause("UADMIN", names.admin, at("13:50"), names.reason)
    admin = World(names).admin
    yield "quota paused", pause.paused_notice(stop, admin)
    yield "quota paused, no reason", pause.paused_notice(replace(stop, reason=""), admin)
    yield "quota resumed", pause.resumed_notice(pause.Resumed(stop, admin, at("16:12")))
    yield "no approver", platform.no_approver(names.queue, (142, 143))
    for approvals in (True, False):
        yield (
            f"channel unreachable, {approvals}",
            platform.channel_unreachable("CAPPROVALS", names.vendor, approvals=approvals),
        )
    trouble = platform.PolicyTrouble(names.tool, names.vendor, at("14:02"), 12)
    yield "policy broken", platform.policy_broken(trouble)
    yield "policy good", platform.policy_broken(replace(trouble, good_since=at("14:30")))
