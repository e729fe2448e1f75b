"""What becomes of an arrival that is refused, cannot be handled, or was handled already: somebody always hears."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from bot.chat.desk import CLAIM_IS_OLD, MOST_ATTEMPTS, Desk
from bot.chat.directory import handler_of
from bot.core.errors import AlreadyHandled, Rejected, Stale, Unavailable
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Message
from bot.views.ids import Field, View

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

Handle = Callable[..., Message | None]


def _arrives(bench: "Bench", name: str, arrival: Arrival = Arrival.ACTION, **payload: Any) -> InboxItem:
    item = InboxItem(f"arrival:{name}", arrival, name, {"user": "U0VISION", **payload}, bench.clock())
    with bench.world.store.begin() as uow:
        uow.inbox.put([item])
        uow.commit()
    return item


def _desk(bench: "Bench", handle: Handle) -> Desk:
    return Desk(bench.world, lambda _item: handle, "P1")


def _heard(bench: "Bench", who: str = "U0VISION") -> list[str]:
    bench.deliver_all()
    return bench.texts(who)


ELEMENTS = {
    Field.QUEUE: {"selected_option": {"value": "default:vision"}},
    Field.FLAVOR: {"selected_option": {"value": "a100"}},
    Field.AMOUNT: {"value": "8"},
    Field.REASON: {"value": ""},
}
FORM = {field.value: {field.value: element} for field, element in ELEMENTS.items()}


@pytest.mark.parametrize("closed", [True, False])
def test_the_refusal_of_a_form_goes_by_dm_if_its_view_was_closed(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    def gone(*_args: object) -> None:
        raise Rejected("Slack", "not_found")

    if closed:
        monkeypatch.setattr(bench.chat, "update_view", gone)
    item = _arrives(bench, View.REQUEST_FORM, Arrival.SUBMISSION, values=FORM, metadata="F1", view_id="V1")
    Desk(bench.world, handler_of, "P1").handle(item)
    assert not bench.store.tables.requests
    assert bench.store.tables.inbox[item.key].state == "done"
    assert _heard(bench) == (["Say why in a few words."] if closed else [])


def _taken(bench: "Bench", desk: Desk) -> InboxItem:
    """What the sweep takes once the claim is old."""
    bench.pass_time(seconds=CLAIM_IS_OLD.total_seconds() + 1)
    (item,) = desk.left(10)
    return item


def test_an_arrival_that_is_given_up_is_logged_and_told_with_the_same_reference(bench: "Bench") -> None:
    """Its process died at each try."""
    key, desk = _arrives(bench, "dies").key, _desk(bench, lambda _arrived: None)
    for _ in range(MOST_ATTEMPTS):
        _taken(bench, desk)
    with structlog.testing.capture_logs() as logs:
        desk.handle(_taken(bench, desk))
    (line,) = [one for one in logs if one["log_level"] == "error"]
    assert (line["event"], line["key"]) == ("an arrival is given up", key)
    assert bench.store.tables.inbox[key].failure == f"reference {line['reference']}"
    (told,) = _heard(bench)
    assert f"Reference {line['reference']}" in told


def test_tries_that_a_database_cost_that_was_down_do_not_count(bench: "Bench") -> None:
    down, done = MOST_ATTEMPTS + 2, []

    def handle(_arrived: object) -> None:
        done.append("tried")
        if len(done) <= down:
            raise Unavailable("database", "not answering")

    key, desk = _arrives(bench, "waits").key, _desk(bench, handle)
    for _ in range(down):
        with pytest.raises(Unavailable):
            desk.handle(_taken(bench, desk))
    desk.handle(_taken(bench, desk))
    assert bench.store.tables.inbox[key].state == "done"
    assert _heard(bench) == []


@pytest.mark.parametrize(
    ("lost", "told"), [(1, "It worked."), (2, "Somebody else is changing the same. Try again in a moment.")]
)
def test_a_race_that_was_lost_is_run_again_at_once_and_answered(bench: "Bench", lost: int, told: str) -> None:
    tries = iter(range(1, 10))

    def handle(_arrived: object) -> Message:
        if next(tries) <= lost:
            raise Stale("deadlock detected")
        return Message("It worked.")

    item = _arrives(bench, "races")
    _desk(bench, handle).handle(item)
    assert _heard(bench) == [told]
    assert bench.store.tables.inbox[item.key].state == "done"


def test_what_another_worker_has_handled_is_not_run_or_answered_again(bench: "Bench") -> None:
    tries = []

    def handle(_arrived: object) -> Message:
        tries.append("tried")
        raise AlreadyHandled("by another worker")

    _desk(bench, handle).handle(_arrives(bench, "done already"))
    assert (tries, _heard(bench)) == (["tried"], [])
