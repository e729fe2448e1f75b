"""What the policy says to a request: granted at once, denied with words, or who must approve; and why.

Asked when a request is made and again at each click (flows), and by `explain` and `policy explain` without acting.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.core.limits import over_limits
from bot.core.loans import LoanKind
from bot.core.membership import step_words
from bot.core.policy import Policy
from bot.core.policy.approvals import LENDER_LEADS, TEAM_LEADS, Rule, Step
from bot.core.policy.conditions import CHECKS, CUMULATED, Holds, Subject
from bot.core.request_facts import RequestFacts
from bot.core.requests import ApprovalStep, Ask


class Outcome(StrEnum):
    """What a request takes."""

    AUTO = "auto"
    """Approved by the rule."""
    STEPS = "steps"
    """People decide."""
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule that was looked at."""

    name: str
    matched: bool
    because: str
    """A phrase: all that held, or all that did not."""
    failed: tuple[str, ...] = ()
    """Keys of the conditions that did not hold."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome with its reasons."""

    outcome: Outcome
    rule: str | None
    """The rule that decided; None if none matched."""
    words: str = ""
    """Of a denial: what the rule says. Else what the requester should know, or nothing."""
    steps: tuple[ApprovalStep, ...] = ()
    tried: tuple[RuleResult, ...] = ()
    """Rules in order up to the one that decided."""


def evaluate(policy: Policy, facts: RequestFacts) -> Verdict:
    """What is over a limit is denied; else the first rule whose conditions all hold decides.

    If none does the request is denied: nothing is ever let through, or left waiting for nobody, by a gap in the rules.
    """
    over = over_limits(policy, facts)
    if over:
        return Verdict(Outcome.DENIED, None, " ".join(one.sentence for one in over))
    return _first_match(policy, facts)


def evaluate_again(policy: Policy, facts: RequestFacts, made_at: datetime, decided: str | None) -> Verdict:
    """What a stored request takes, by the rules of now and the facts of when it was made; limits are not looked at.

    `decided` is the rule that decided then: what the team had already let it match and the rules before it not, and
    what moved meanwhile changes neither. So another verdict than the first one means that the policy was changed.
    """
    known = decided if any(rule.name == decided for rule in policy.approvals.rules) else None
    return _first_match(policy, replace(facts, now=made_at), known)


def _first_match(policy: Policy, facts: RequestFacts, decided: str | None = None) -> Verdict:
    subject = _subject(policy, facts)
    tried: list[RuleResult] = []
    then = decided is not None  # up to that rule, what the team had already is taken as it was found
    for rule in policy.approvals.rules:
        result = _try(rule, subject)
        if then:
            result = _as_found(rule, result, held=rule.name == decided)
            then = rule.name != decided
        tried.append(result)
        if result.matched:
            return _given(policy, facts, rule, tuple(tried))
    words = "No rule of the policy covers this request, so nobody can approve it. Admins: add a rule."
    return Verdict(Outcome.DENIED, None, words, tried=tuple(tried))


def explain(verdict: Verdict) -> tuple[str, ...]:
    """A verdict in full sentences: what it takes and why, then why the rules before it did not match."""
    decided = next((one for one in verdict.tried if one.matched), None)
    missed = [f"{one.name}: {one.because}" for one in verdict.tried if not one.matched]
    lines = [_headline(verdict, decided)]
    if verdict.outcome is Outcome.STEPS:
        lines.append(f"In this order: {', then '.join(step_words(step) for step in verdict.steps)}.")
        if verdict.words:
            lines.append(verdict.words)
    if missed:
        lines.append(f"Rules that did not match: {'; '.join(missed)}.")
    return tuple(lines)


def _subject(policy: Policy, facts: RequestFacts) -> Subject:
    ask, team = facts.ask, policy.team(facts.ask.team)
    return Subject(
        team=ask.team,
        flavor=ask.flavor,
        kind=ask.kind.value,
        amount=ask.amount,
        duration=facts.duration,
        on_loan=facts.on_loan,
        loans_per_week=facts.loans_per_week,
        now=facts.now,
        timezone=team.timezone if team else "UTC",
    )


def _try(rule: Rule, subject: Subject) -> RuleResult:
    held: dict[str, Holds] = {}
    for key, check in CHECKS.items():
        wanted = getattr(rule.when, key)
        if wanted is not None:
            held[key] = check(wanted, subject)
    failed = tuple(key for key, one in held.items() if not one.matched)
    phrases = [one.because for key, one in held.items() if not failed or key in failed]
    return RuleResult(rule.name, not failed, " and ".join(phrases) or "it covers every request", failed)


def _as_found(rule: Rule, result: RuleResult, *, held: bool) -> RuleResult:
    """The same with the conditions on what the team has already as they came out when the request was made."""
    asked = tuple(key for key in sorted(CUMULATED) if getattr(rule.when, key) is not None)
    failed = tuple(key for key in result.failed if key not in CUMULATED) + (() if held else asked)
    because = result.because
    if result.matched != (not failed):  # what the phrase counts has moved since
        because = f"the team's loans at that time {'did not fit' if failed else 'fitted'} it"
    return replace(result, matched=not failed, because=because, failed=failed)


def _given(policy: Policy, facts: RequestFacts, rule: Rule, tried: tuple[RuleResult, ...]) -> Verdict:
    """What the rule that matched comes to for this request."""
    if rule.then.deny is not None:
        return Verdict(Outcome.DENIED, rule.name, rule.then.deny, tried=tried)
    ask = facts.ask
    steps = _steps(policy, ask, rule.then.steps or ())
    if rule.then.approve and not steps:
        return _automatic(policy, facts, rule, tried)
    if not steps:
        words = f"it asks the lender's lead, and a {ask.kind.value} has no lender. Admins: add a step"
        return Verdict(Outcome.DENIED, rule.name, words, tried=tried)
    return Verdict(Outcome.STEPS, rule.name, _why_a_person(policy, tried), steps, tried)


def _automatic(policy: Policy, facts: RequestFacts, rule: Rule, tried: tuple[RuleResult, ...]) -> Verdict:
    """A rule never promises more than exists: then the admins are asked, one of whom has to tick it, if it is new."""
    if not facts.overcommits:
        return Verdict(Outcome.AUTO, rule.name, tried=tried)
    does = "give more time with extra quota" if facts.extends is not None else "promise more than the nodes have"
    words = f"Rule {rule.name} does not {does}, so a person decides."
    return Verdict(Outcome.STEPS, rule.name, words, (ApprovalStep(f"group:{policy.approvals.admins}"),), tried)


def _steps(policy: Policy, ask: Ask, wanted: Sequence[Step]) -> tuple[ApprovalStep, ...]:
    """The rule's steps with names filled in, after the consent of the lender's lead where it is needed.

    A step of the lender's lead without a lender falls away.
    """
    steps = [_step(policy, ask, step) for step in wanted if ask.lender is not None or step.who != LENDER_LEADS]
    cluster = policy.cluster(ask.cluster)
    free = cluster is not None and ask.lender is not None and cluster.lends_freely(ask.lender)
    if ask.kind is LoanKind.TRANSFER and not free:
        consent = ApprovalStep(_lender_leads(policy, ask))
        if all(step.who != consent.who for step in steps):
            steps.insert(0, consent)
    return tuple(steps)


def _step(policy: Policy, ask: Ask, step: Step) -> ApprovalStep:
    if step.who == TEAM_LEADS:
        return ApprovalStep(f"leads:{ask.team}", step.count)
    if step.who == LENDER_LEADS:
        return ApprovalStep(_lender_leads(policy, ask), step.count)
    return ApprovalStep(f"group:{step.group}", step.count)


def _lender_leads(policy: Policy, ask: Ask) -> str:
    """The leads who consent. A lender that is no team's is nobody's to give: `leads:` has no people."""
    return f"leads:{policy.team_of(ask.cluster, ask.lender or '') or ''}"


def _why_a_person(policy: Policy, tried: tuple[RuleResult, ...]) -> str:
    """Say so when an automatic rule failed for nothing but what the team has already."""
    automatic = {rule.name for rule in policy.approvals.rules if rule.then.approve}
    for result in tried:
        if result.name in automatic and result.failed and CUMULATED.issuperset(result.failed):
            return f"Rule {result.name} {result.because}, so a person decides."
    return ""


def _headline(verdict: Verdict, decided: RuleResult | None) -> str:
    if verdict.outcome is Outcome.DENIED:
        by = f"Denied by rule {verdict.rule}: " if verdict.rule else "Denied. "
        return by + verdict.words.rstrip(".") + "."
    because = f"rule {verdict.rule}, because {decided.because}" if decided else f"rule {verdict.rule}"
    if verdict.outcome is Outcome.AUTO:
        return f"Approved by {because}."
    count = sum(step.count for step in verdict.steps)
    return f"Needs {count} approval{'' if count == 1 else 's'}: {because}."
