"""What becomes of an arrival that is refused, cannot be handled, or was handled already: somebody always hears."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from bot.chat.desk import Desk
from bot.chat.directory import handler_of
from bot.core.errors import Rejected
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
    Field.QUEUE: {"selected_option": {"value": "default/vision"}},
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
