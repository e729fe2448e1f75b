"""A placed draft made complete against a live picture: flavor, resource, kind and lender filled in, or why not.

Asked by flows/submit_request before any policy rule is looked at. Every refusal is the sentence that people see, with
the form field that it belongs to.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from bot.core.cohorts import QuotaTree, quota_tree
from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.lenders import Lenders, Wish, automation_sentence, check_lender, choose_lender, fraction_sentence
from bot.core.loans import Loan, LoanKind
from bot.core.placing import no_such_queue
from bot.core.policy import Policy
from bot.core.policy.clusters import Cluster
from bot.core.requests import Ask
from bot.core.resource_quotas import counting_key, is_resource_quota
from bot.core.series import Series


@dataclass(frozen=True, slots=True)
class Proposal:
    """A complete request, and sentences about what was filled in."""

    ask: Ask
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What the steps below look at."""

    draft: Draft
    policy: Policy
    cluster: Cluster
    picture: ClusterPicture
    queue: QueueSnapshot
    lenders: Lenders


def propose(
    draft: Draft,
    picture: ClusterPicture,
    policy: Policy,
    *,
    loans: Sequence[Loan] = (),
    visible: Collection[str] | None = None,
) -> Proposal | Question:
    """Complete a draft whose cluster, team and queue are set (see placing.place). Raises Refused.

    `loans` are the open ones of this cluster, `visible` the queues the requester may see (None: all).
    """
    known = _known(draft, picture, policy, loans, picture.queues if visible is None else visible)
    _check_queue(known.queue)
    entry = _entry(known)
    if isinstance(entry, Question):
        return entry
    missing = _check_numbers(known, entry)
    if missing is not None:
        return missing
    tree = quota_tree(picture, entry)
    kind = _kind(known, entry, tree)
    lender = _lender(known, entry) if kind is LoanKind.TRANSFER else None
    return Proposal(_ask(draft, entry, kind, lender), _notes(known, entry, tree, kind))


def _known(
    draft: Draft, picture: ClusterPicture, policy: Policy, loans: Sequence[Loan], visible: Collection[str]
) -> _Known:
    cluster = policy.cluster(picture.cluster)
    if cluster is None or draft.team is None or draft.queue is None:
        raise ValueError("the draft has no place yet, or this cluster is not in the policy")
    queue = picture.queues.get(draft.queue)
    if queue is None and is_resource_quota(draft.queue) and draft.queue in policy.places_on(picture.cluster):
        may = draft.queue not in picture.unread
        why = (
            f"ResourceQuota {draft.queue} is not there" if may else f"The bot may not read ResourceQuota {draft.queue}"
        )
        raise Refused(f"{why}. Ask an admin.", AskField.QUEUE)
    if queue is None or draft.queue not in visible:
        raise no_such_queue(draft.queue, set(visible) & set(picture.queues))
    return _Known(draft, policy, cluster, picture, queue, Lenders(picture, cluster, loans, visible))


def _check_queue(queue: QueueSnapshot) -> None:
    """Whether quota could help this queue at all, and whether it is the bot's to change."""
    reason = automation_sentence(queue)
    if queue.deleting:
        reason = f"{queue.name} is being deleted: quota would not help now. Ask the platform channel."
    elif queue.stop_policy != "None":
        reason = f"{queue.name} is stopped: quota would not help now. Ask the platform channel."
    elif reason is None and not queue.active:
        reason = f"{queue.name} is not active: Kueue admits nothing there now. Ask the platform channel."
    if reason:
        raise Refused(reason, AskField.QUEUE)


def _entry(known: _Known) -> FlavorResource | Question:
    """The one entry of the queue that is meant: as said, as configured, or the only one."""
    listed = [entry for entry in known.queue.quotas if entry.resource in known.cluster.accelerators]
    if not listed:
        raise Refused(_no_accelerator(known), AskField.FLAVOR)
    flavor, resource = _said(known, listed)
    left = [one for one in listed if flavor in (None, one.flavor) and resource in (None, one.resource)]
    if not left:
        raise Refused(_nothing_like_it(known, listed, flavor, resource), AskField.FLAVOR)
    flavors = tuple(dict.fromkeys(one.flavor for one in left))
    if len(flavors) > 1:
        default = known.cluster.default_flavors.get(known.queue.name, known.cluster.default_flavor)
        if default not in flavors:
            sentence = f"Which flavor? {known.queue.name} lists {_joined(flavors)}."
            return Question(AskField.FLAVOR, sentence, flavors)
        left = [one for one in left if one.flavor == default]
    if len(left) > 1:
        names = tuple(one.resource for one in left)
        of = f"{left[0].flavor} of {known.queue.name}"
        return Question(AskField.FLAVOR, f"Which resource? {of} has {_joined(names)}.", names)
    return left[0]


def _no_accelerator(known: _Known) -> str:
    name = known.queue.name
    if not is_resource_quota(name):
        return f"{name} lists no accelerator."
    keys = " or ".join(counting_key(resource) for resource in known.cluster.accelerators)
    idle = f" {', '.join(known.queue.no_effect)} counts nothing." if known.queue.no_effect else ""
    return f"ResourceQuota {name} has no {keys}.{idle} Ask an admin of the namespace."


def _said(known: _Known, listed: Sequence[FlavorResource]) -> tuple[str | None, str | None]:
    """Flavor and resource that were said. A flavor that is none may be the name of a resource, as in `7 mig-1g.5gb`."""
    flavor, resource = known.draft.flavor, known.draft.resource
    if resource is not None:
        found = known.cluster.resource_named(resource)
        if found is None:
            names = ", ".join(known.cluster.accelerators)
            raise Refused(f"No accelerator {resource} here. There are: {names}.", AskField.FLAVOR)
        return flavor, found
    if flavor is None or any(flavor == one.flavor for one in listed):
        return flavor, None
    if _exists(known, flavor):
        return flavor, None
    meant = known.cluster.resource_named(flavor)
    return (flavor, None) if meant is None else (None, meant)


def _exists(known: _Known, flavor: str) -> bool:
    """Whether any queue that the requester may see lists a flavor."""
    return flavor in _flavors(known)


def _flavors(known: _Known) -> tuple[str, ...]:
    queues = (queue for name, queue in known.picture.queues.items() if name in known.lenders.visible)
    return tuple(dict.fromkeys(entry.flavor for queue in queues for entry in queue.quotas))


def _nothing_like_it(known: _Known, listed: Sequence[FlavorResource], flavor: str | None, resource: str | None) -> str:
    name, flavors = known.queue.name, ", ".join(dict.fromkeys(one.flavor for one in listed))
    if flavor is None:
        return f"{name} does not list {resource}. It lists: {', '.join(dict.fromkeys(one.resource for one in listed))}."
    if any(one.flavor == flavor for one in listed):
        of = ", ".join(one.resource for one in listed if one.flavor == flavor)
        return f"{name} does not list {resource} in {flavor}. It lists: {of}."
    if _exists(known, flavor):
        return f"{name} does not list {flavor}. It lists: {flavors}."
    near = get_close_matches(flavor, _flavors(known), n=3)
    hint = f" Near: {', '.join(near)}." if near else ""
    return f"No flavor {flavor}.{hint} {name} lists: {flavors}."


def _check_numbers(known: _Known, entry: FlavorResource) -> Question | None:
    """Amount and times, as far as no policy is needed to judge them."""
    draft, now = known.draft, known.picture.read_at
    unit = known.cluster.unit(entry.resource, 2)
    fraction = fraction_sentence(known.queue, entry)
    if fraction:
        raise Refused(fraction, AskField.QUEUE)
    if draft.amount is None:
        return Question(AskField.AMOUNT, f"How many {unit}?")
    if draft.amount < 1:
        raise Refused(f"{draft.amount} is not a number of {unit}. Whole numbers from 1, like 8.", AskField.AMOUNT)
    if draft.duration is None and draft.until is None:
        return Question(AskField.UNTIL, "Until when?")
    if draft.until is not None and draft.until <= now:
        raise Refused("This time has passed.", AskField.UNTIL)
    if draft.start is not None and draft.start < now:
        raise Refused("This time has passed.", AskField.START_AT)
    if draft.start is not None and draft.until is not None and draft.start >= draft.until:
        raise Refused("Start is after the end.", AskField.START_AT)
    return None


def _kind(known: _Known, entry: FlavorResource, tree: QuotaTree) -> LoanKind:
    """The kind that was said if it is possible here, else the kind that fits."""
    draft, approvals, queue = known.draft, known.policy.approvals, known.queue
    said = draft.kind or (LoanKind.TRANSFER if draft.lender else None)
    if said is not None and not approvals.allows(said):
        raise Refused(f"{said.value} loans are off here.", AskField.KIND)
    if said is LoanKind.EXTRA or tree.cohort(queue.name) is None:
        return _alone(known, entry, said)
    if said is LoanKind.TRANSFER or (said is None and not approvals.allows(LoanKind.BORROW)):
        return LoanKind.TRANSFER if approvals.allows(LoanKind.TRANSFER) else LoanKind.EXTRA
    if draft.lender:
        where = f"it takes what is free in {tree.cohort(queue.name)}"
        raise Refused(f"A borrow has no lender: {where}. Ask for a transfer from {draft.lender}.", AskField.LENDER)
    if queue.quotas[entry].borrowing_limit is None:
        raise Refused(_unlimited(known, entry, tree), AskField.KIND)
    return LoanKind.BORROW


def _alone(known: _Known, entry: FlavorResource, said: LoanKind | None) -> LoanKind:
    """An extra loan, which needs no other queue: as said, or because nothing else is possible without a cohort."""
    draft, name = known.draft, known.queue.name
    if said is LoanKind.EXTRA and draft.lender:
        instead = f"Ask for a transfer from {draft.lender}."
        raise Refused(f"An extra loan has no lender: it raises {name} alone. {instead}", AskField.LENDER)
    if said is LoanKind.EXTRA or (said is None and known.policy.approvals.allows(LoanKind.EXTRA)):
        return LoanKind.EXTRA
    if is_resource_quota(name):
        off = "" if known.policy.approvals.allows(LoanKind.EXTRA) else ", and extra loans are off here"
        raise Refused(f"{name} is a ResourceQuota: only an extra loan can raise it{off}.", AskField.KIND)
    what = "no queue can lend to it" if said is LoanKind.TRANSFER else "it cannot borrow"
    if not known.policy.approvals.allows(LoanKind.EXTRA):
        raise Refused(f"{name} is in no cohort, so {what}, and extra loans are off here.", AskField.KIND)
    instead = f"An extra loan is possible: request {draft.amount} {entry.flavor} as extra"
    raise Refused(f"{name} is in no cohort, so {what}. {instead}", AskField.KIND)


def _unlimited(known: _Known, entry: FlavorResource, tree: QuotaTree) -> str:
    name = known.queue.name
    transfer = known.policy.approvals.allows(LoanKind.TRANSFER)
    return (
        f"{name} may borrow without a limit already (no borrowingLimit). "
        f"No loan is needed; {tree.free(name):,} {entry.flavor} free at this moment."
        f"{' To be safe from reclaim ask for a transfer.' if transfer else ''}"
    )


def _can_borrow_more(known: _Known, entry: FlavorResource, tree: QuotaTree) -> bool:
    """Whether a higher borrowingLimit could ever bring the queue more than it can get today."""
    queue = known.queue
    quotas = {**queue.quotas, entry: replace(queue.quotas[entry], borrowing_limit=None)}
    queues = {**known.picture.queues, queue.name: replace(queue, quotas=quotas)}
    unlimited = quota_tree(replace(known.picture, queues=queues), entry)
    return unlimited.potential(queue.name) > tree.potential(queue.name)


def _lender(known: _Known, entry: FlavorResource) -> str:
    wish = Wish(known.queue, entry, known.draft.amount or 0)
    if known.draft.lender is None:
        return choose_lender(known.lenders, wish)
    check_lender(known.lenders, known.draft.lender, wish)
    return known.draft.lender


def _notes(known: _Known, entry: FlavorResource, tree: QuotaTree, kind: LoanKind) -> tuple[str, ...]:
    name, notes = known.queue.name, list[str]()
    if is_resource_quota(name):
        return (f"{name} is a ResourceQuota: nobody lends to it, so this is an extra loan.",)
    if kind is LoanKind.EXTRA and known.draft.kind is None and tree.cohort(name) is None:
        return (f"{name} is in no cohort: it cannot borrow and nobody can lend to it, so this is an extra loan.",)
    if kind is not LoanKind.BORROW:
        return ()
    if not _can_borrow_more(known, entry, tree):
        most = f"The most {name} can ever get is {tree.potential(name):,} {entry.flavor}"
        notes.append(f"{most}: a higher borrowingLimit does not change that.")
    if tree.free(name) == 0:
        notes.append("0 free at this moment. A transfer makes it certain.")
    return tuple(notes)


def _ask(draft: Draft, entry: FlavorResource, kind: LoanKind, lender: str | None) -> Ask:
    assert draft.cluster is not None
    assert draft.team is not None
    assert draft.queue is not None
    assert draft.amount is not None
    return Ask(
        cluster=draft.cluster,
        team=draft.team,
        queue=draft.queue,
        flavor=entry.flavor,
        resource=entry.resource,
        amount=draft.amount,
        kind=kind,
        lender=lender,
        start=draft.start,
        duration=draft.duration if draft.until is None else None,
        until=draft.until,
        reason=draft.reason,
        requester=draft.requester,
        series=draft.series if isinstance(draft.series, Series) else None,
    )


def _joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
