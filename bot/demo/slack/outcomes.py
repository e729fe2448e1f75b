"""What Slack makes of the bot's acknowledgement: an answer shown, a form that closes, changes or complains, an error.

`settle` is called by `acting` once a receipt is there, with the lock held.
"""

from dataclasses import replace
from typing import Any

from bot.demo.slack import limits
from bot.demo.slack.delivery import Delivery, Receipt
from bot.demo.slack.entities import Json, View
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call
from bot.demo.slack.methods.chat import read_content
from bot.demo.slack.methods.views import read_view
from bot.demo.slack.world import World

TROUBLE = "We had some trouble connecting. Try again?"


def settle(world: World, receipt: Receipt) -> Delivery:
    """The outcome of one delivery, after its effect on what people see."""
    parcel = receipt.sent_as
    outcome = Delivery(
        parcel=parcel,
        acked=receipt.acked,
        status=receipt.status,
        answer=receipt.answer,
        elapsed=receipt.elapsed,
        error=receipt.error,
    )
    if parcel.kind == "events_api":
        return outcome
    if parcel.kind == "slash_commands":
        return _after_command(world, outcome)
    if parcel.payload["type"] == "view_submission":
        return _after_submission(world, outcome)
    return replace(outcome, shown=_triangle(outcome.error))


def _triangle(error: str | None) -> str | None:
    """Beside a button Slack only draws a warning sign; the code is in its logs."""
    return None if error is None else f"⚠ {error}"


def _after_command(world: World, outcome: Delivery) -> Delivery:
    payload = outcome.payload
    if outcome.error is not None:
        return _command_failed(outcome, outcome.error)
    answer = {"text": outcome.answer} if isinstance(outcome.answer, str) else outcome.answer
    if not answer:
        return outcome
    try:
        content = read_content(Call(world, answer), limits.MESSAGE_TEXT)
    except SlackError:
        return _command_failed(outcome, "invalid_command_response")
    if answer.get("response_type") == "in_channel":
        said = world.timeline.post(payload["channel_id"], world.bot.id, **content)
    else:
        said = world.timeline.whisper(payload["user_id"], payload["channel_id"], world.bot.id, **content)
    return replace(outcome, shown=said.text)


def _command_failed(outcome: Delivery, error: str) -> Delivery:
    return replace(outcome, error=error, shown=f"{outcome.payload['command']} failed with the error “{error}”")


def _after_submission(world: World, outcome: Delivery) -> Delivery:
    if outcome.error is not None:
        return replace(outcome, shown=TROUBLE)
    try:
        view = world.surfaces.find(outcome.payload["view"]["id"], None)
    except SlackError:
        return outcome
    answer = outcome.answer
    if isinstance(answer, str):
        return replace(outcome, error="invalid_response", shown=TROUBLE)
    try:
        errors = _follow(world, view, answer or {})
    except SlackError as refused:
        return replace(outcome, error=refused.code, shown=TROUBLE)
    return replace(outcome, field_errors=errors)


def _follow(world: World, view: View, answer: Json) -> dict[str, str]:
    """Do what the acknowledgement says with the form; returns errors for its fields."""
    surfaces = world.surfaces
    match answer.get("response_action"):
        case None:
            surfaces.close(view)
        case "clear":
            surfaces.clear(view.user)
        case "update":
            surfaces.update(view, read_view(answer.get("view"), "modal"))
        case "push":
            surfaces.push(view.user, read_view(answer.get("view"), "modal"))
        case "errors":
            return _field_errors(view, answer.get("errors"))
        case _:
            raise SlackError("invalid_response_action")
    return {}


def _field_errors(view: View, errors: Any) -> dict[str, str]:
    inputs = {block["block_id"] for block in view.blocks if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not inputs.issuperset(errors):
        raise SlackError("invalid_errors")
    return {block_id: str(words) for block_id, words in errors.items()}
