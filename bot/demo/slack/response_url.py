"""What happens to a message sent to a response URL. Called by `web_api` with the lock held.

The URL of a click can replace or delete the message that was clicked, ephemeral ones too; the URL of a slash command
cannot, it can only say something new.
"""

from bot.demo.slack import limits
from bot.demo.slack.entities import Json, Message
from bot.demo.slack.errors import SlackError
from bot.demo.slack.methods.call import Call
from bot.demo.slack.methods.chat import read_content
from bot.demo.slack.passes import ResponseUrl

_GONE = frozenset({"no_such_url", "used_url", "expired_url", "message_not_found"})


def respond(key: str, call: Call) -> Json:
    """Errors: `used_url`, `expired_url`, those of a message's content, `message_not_found` when the original is gone,
    `invalid_payload` for deleting what a slash command never posted."""
    world = call.world
    url = world.response_urls.use(key)
    if call.flag("delete_original"):
        world.timeline.remove(_original(call, url))
        return {}
    content = read_content(call, limits.MESSAGE_TEXT)
    if call.flag("replace_original") and url.original is not None:
        world.timeline.edit(_original(call, url), **content)
    elif call.text("response_type") == "in_channel":
        thread_ts = call.text("thread_ts") or None
        world.timeline.post(url.channel, world.bot.id, thread_ts=thread_ts, **content)
    else:
        world.timeline.whisper(url.user, url.channel, world.bot.id, **content)
    return {}


def status(code: str) -> int:
    """The HTTP status that goes with an error code here."""
    return 404 if code in _GONE else 400


def _original(call: Call, url: ResponseUrl) -> Message:
    if url.original is None:
        raise SlackError("invalid_payload")
    present = call.world.timeline.current(url.original)
    if present is None:
        raise SlackError("message_not_found")
    return present
