"""Section 8 of the design: a lost database is rebuilt from the annotations, after everything is fenced."""

from dataclasses import replace

import pytest

from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.rebuild import highest_epoch, missing_fences, rebuild
from bot.core.kueue import ClusterPicture
from bot.core.loans import LoanState
from tests.support.convergence.play import Play
from tests.support.convergence.world import CLUSTER, EARLY, INSTALL, LATE, key_of, transfer


def _picture(play: Play, fence: str | None = "4.1") -> ClusterPicture:
    queues = {
        name: replace(queue, annotations={**queue.annotations, **({} if fence is None else {FENCE: fence})})
        for name, queue in play.world.objects.items()
    }
    return ClusterPicture(CLUSTER, EARLY, queues)


def test_every_queue_is_fenced_first(lent: Play) -> None:
    picture = _picture(lent, fence="3.7")
    assert highest_epoch(picture) == 3
    fences = missing_fences(picture, INSTALL, 4)
    assert [write.change.annotations for write in fences] == [{FENCE: "4.8"}, {FENCE: "4.8"}]
    with pytest.raises(ValueError, match="2 queues have no fence"):
        rebuild(picture, INSTALL, 4, EARLY)


def test_a_fence_of_an_epoch_that_nobody_can_have_led_under_does_not_count(lent: Play) -> None:
    """So that the fences of whoever leads above it can still be read."""
    assert highest_epoch(_picture(lent, fence="99999999999999.1")) == 99_999_999_999_999
    assert highest_epoch(_picture(lent, fence="999999999999999.1")) == 0


def test_a_queue_of_another_installation_or_of_kueue_is_not_fenced(lent: Play) -> None:
    picture = _picture(lent, fence=None)
    other = picture.queues["a"]
    text = other.annotations[LOANS].replace(INSTALL, "bot-2")
    queues = {
        "a": replace(other, annotations={LOANS: text}),
        "b": replace(picture.queues["b"], quota_automation="written by Kueue itself"),
    }
    assert missing_fences(replace(picture, queues=queues), INSTALL, 4) == ()
    assert highest_epoch(picture) == 0


@pytest.mark.parametrize(("now", "state"), [(EARLY, LoanState.RUNNING), (LATE, LoanState.RETURNING)])
def test_records_and_loans_come_back(lent: Play, now: object, state: LoanState) -> None:
    rebuilt = rebuild(_picture(lent), INSTALL, 4, LATE if now is LATE else EARLY)
    stored = lent.world.db.records
    for record in rebuilt.records:
        assert replace(record, version=stored[record.key].version) == stored[record.key]
    (loan,) = rebuilt.loans
    assert (loan.state, loan.id, loan.lender, loan.borrower, loan.amount) == (state, 17, "a", "b", 2)
    assert {str(finding.kind) for finding in rebuilt.findings} == {"from annotation"}


def test_after_a_rebuild_everything_goes_on_as_before(lent: Play) -> None:
    lent.world.lose_database()
    lent.world.rebuild()
    lent.settle()
    assert (lent.number(key_of("a")), lent.number(key_of("b"))) == (6, 10)
    lent.world.give_back(17)
    lent.world.approve(transfer(18, "b", "a", 1))
    lent.settle()
    assert (lent.number(key_of("a")), lent.number(key_of("b"))) == (9, 7)
