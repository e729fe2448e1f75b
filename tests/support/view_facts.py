"""The made-up cluster of the messages' reference as facts for views, with every name replaceable.

Cohort gpu-pool, 48 a100; nlp has 24, vision 16, robotics 8. A test gives `Names` of
its own to put other text everywhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.impact import AtRisk, Impact, Move
from bot.core.loans import Loan, LoanEnd, LoanKind, LoanState
from bot.core.offers import Offer, OfferState, terms_of
from bot.core.people import Person
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.core.series import Every, Series, Span
from bot.core.standing import Blocker, LoanStanding, RoomStanding
from bot.views.facts import CardFacts, Given, Offered, Step
from tests.support.view_text import READER

RESOURCE = "nvidia.com/gpu"


def at(clock: str, day: int = 2) -> datetime:
    """A time of December 2026 in the reader's zone; the 2nd is a Wednesday."""
    hour, minute = clock.split(":")
    return datetime(2026, 12, day, int(hour), int(minute), tzinfo=READER)


@dataclass(frozen=True, slots=True)
class Names:
    """Everything that other people name."""

    queue: str = "vision"
    lender: str = "nlp"
    flavor: str = "a100"
    cohort: str = "gpu-pool"
    reason: str = "paper deadline, last ablation runs"
    denial: str = "no more before the deadline week"
    rule: str = "small-and-short"
    work: str = "resnet-sweep"
    other_work: str = "bert-large"
    manager: str = "argocd-controller"
    lead_step: str = "nlp lead"
    admin_step: str = "gpu-admins"
    vendor: str = 'clusterqueues.kueue.x-k8s.io "vision" is forbidden'
    tool: str = "Argo CD"
    requester: str = "Requester"
    lead: str = "Lead of nlp"
    admin: str = "Admin"

    @classmethod
    def all_of(cls, text: str) -> "Names":
        """The same text everywhere."""
        return cls(**dict.fromkeys(cls.__slots__, text))


NAMES = Names()


class World:
    """Facts of one story under one set of names: Q-142, 8 a100 for vision, 3 days from Wed 2 Dec 14:20."""

    def __init__(self, names: Names = NAMES, kind: LoanKind = LoanKind.TRANSFER) -> None:
        self.names = names
        self.kind = kind
        self.requester = Person("UREQUESTER", names.requester)
        self.lead = Person("ULEAD0NLP", names.lead)
        self.admin = Person("UADMIN", names.admin)

    @property
    def borrows(self) -> bool:
        return self.kind is LoanKind.BORROW

    def ask(self, **changes: Any) -> Ask:
        asked = Ask(
            cluster="default",
            team=self.names.queue,
            queue=self.names.queue,
            flavor=self.names.flavor,
            resource=RESOURCE,
            amount=8,
            kind=self.kind,
            lender=None if self.borrows else self.names.lender,
            start=None,
            duration=timedelta(days=3),
            until=None,
            reason=self.names.reason,
            requester=self.requester.id,
        )
        return replace(asked, **changes)

    def series(self) -> Series:
        """Four Fridays from the 4th, to Mondays."""
        spans = tuple(Span(at("18:00", day), at("08:00", day + 3)) for day in (4, 11, 18, 25))
        return Series(Every.WEEK, "every Fri 18:00 to Mon 08:00", "Europe/Zurich", spans)

    def request(self, state: RequestState = RequestState.WAITING, **changes: Any) -> QuotaRequest:
        made = QuotaRequest(
            id=142,
            ask=self.ask(),
            state=state,
            created_at=at("14:05"),
            lapses_at=at("14:05", 5),
            origin="command:1",
            revision=3,
            decided_at=None if state is RequestState.WAITING else at("14:20"),
        )
        return replace(made, **changes)

    def steps(self) -> tuple[Step, ...]:
        return (Step(self.names.lead_step, lends=not self.borrows), Step(self.names.admin_step))

    def given(self, count: int = 2) -> tuple[Given, ...]:
        both = (Given(self.lead, at("14:12"), lends=not self.borrows), Given(self.admin, at("14:20"), step=1))
        return both[:count]

    def offer(self, **changes: Any) -> Offer:
        """The admin offers 4 for 2 days."""
        asked = terms_of(self.ask())
        terms = replace(asked, amount=4, duration=timedelta(days=2))
        made = Offer(7, 142, terms, asked, self.admin.id, at("14:15"), self.names.denial)
        return replace(made, **changes)

    def offered(self, **changes: Any) -> Offered:
        return Offered(self.offer(**changes), self.admin)

    def settled(self, state: OfferState) -> Offered:
        """The same after somebody did something about it at 14:30."""
        by = self.requester if state in {OfferState.ACCEPTED, OfferState.KEPT} else self.lead
        return Offered(self.offer(state=state, settled_by=by.id, settled_at=at("14:30")), self.admin, by)

    def impact(self, **changes: Any) -> Impact:
        if self.borrows:
            made = Impact(
                LoanKind.BORROW, "default", self.names.flavor, RESOURCE, 8, at("14:05"), self.names.cohort, free=4,
                borrower=Move(self.names.queue, 4, 12), cohort_nominal=48, borrowed_is_reclaimable=True,
            )  # fmt: skip
        else:
            made = Impact(
                LoanKind.TRANSFER, "default", self.names.flavor, RESOURCE, 8, at("14:05"), self.names.cohort, free=0,
                borrower=Move(self.names.queue, 16, 24), lender=Move(self.names.lender, 24, 16), cohort_nominal=48,
                lender_reserved=20, lender_waiting=4, preemptible=4, at_risk=(AtRisk(self.names.other_work, 4),),
                borrower_reclaims=True,
            )  # fmt: skip
        return replace(made, **changes)

    def loan(self, **changes: Any) -> Loan:
        made = Loan(
            id=142,
            cluster="default",
            kind=self.kind,
            lender=None if self.borrows else self.names.lender,
            borrower=self.names.queue,
            flavor=self.names.flavor,
            resource=RESOURCE,
            amount=8,
            start=at("14:20"),
            end=at("14:20", 5),
            state=LoanState.RUNNING,
            in_force_at=at("14:20"),
        )
        return replace(made, **changes)

    def over(self, why: LoanEnd = LoanEnd.ENDED, when: datetime | None = None, **changes: Any) -> Loan:
        """The loan after its end."""
        ended_at = when or at("14:20", 5)
        return self.loan(state=LoanState.CLOSED, end_reason=why, ended_at=ended_at, **changes)

    def room(self, raised: int = 8, **changes: Any) -> RoomStanding:
        """The ResourceQuota beside the borrower, 16 without the loan."""
        return RoomStanding(Move(f"{self.names.queue}/gpu", 16, 16 + raised), raised, **changes)

    def standing(self, raised: int = 8, **changes: Any) -> LoanStanding:
        """How it stands with `raised` of the 8 in the borrower's number; 0 GPUs are free (4 for a borrow)."""
        base = 4 if self.borrows else 16
        lowered = 0 if self.borrows else changes.pop("lowered", raised)
        made = LoanStanding(
            raised=raised,
            lowered=lowered,
            borrower=Move(self.names.queue, base, base + raised),
            lender=None if self.borrows else Move(self.names.lender, 24, 24 - lowered),
            free=4 if self.borrows else 0,
            read_at=at("14:20"),
        )
        return replace(made, **changes)

    def blocked(self, blocker: Blocker, raised: int = 0, **changes: Any) -> LoanStanding:
        return self.standing(raised, blocker=blocker, since=at("14:02"), **changes)

    def runs_on(self, **changes: Any) -> LoanStanding:
        """After the end, with 8 GPUs in use above quota."""
        work = (AtRisk(self.names.work, 8),)
        return self.standing(0, above=12 if self.borrows else 8, above_workloads=work, **changes)

    def card(self, request: QuotaRequest | None = None, **changes: Any) -> CardFacts:
        facts = CardFacts(
            request=request or self.request(), requester=self.requester, steps=self.steps(), impact=self.impact()
        )
        return replace(facts, **changes)

    def extension(self, state: RequestState = RequestState.WAITING, **changes: Any) -> QuotaRequest:
        """2 days more for Q-142."""
        longer = self.ask(start=at("14:20", 5), duration=None, until=at("14:20", 7))
        return self.request(state, id=150, ask=longer, extends=142, **changes)

    def approved(self, loan: Loan | None = None, standing: LoanStanding | None = None, **changes: Any) -> CardFacts:
        """The card once it was approved by the lead and the admin."""
        with_loan: Mapping[str, Any] = {"loan": loan or self.loan(), "standing": standing, "approvals": self.given()}
        changes = {"request": self.request(RequestState.APPROVED), **with_loan, **changes}
        return self.card(**changes)
