"""A strict simulator of Slack, on the wire: Web API, Socket Mode, signed HTTP, response URLs, forms, App Home.

It stands in for Slack in adapter and fault tests and in the demo. It knows nothing of the bot. State (`workspace`,
`timeline`, `surfaces`, `passes`, `uploads`, together in `world`), rules (`limits`), the wire (`web_api`, `methods`,
`socket_mode`, `http_mode`) and what people do and see (`acting`, `looking`, `render`) are apart.
"""

from bot.demo.slack.delivery import Delivery, Parcel, Receipt, Tamper
from bot.demo.slack.entities import Channel, Message, Notification, Person, SharedFile, UserGroup, View
from bot.demo.slack.errors import SlackError
from bot.demo.slack.faults import Faults, Gate
from bot.demo.slack.journal import ApiCall
from bot.demo.slack.limits import check_message, check_view
from bot.demo.slack.sim import SlackSim
from bot.demo.slack.world import DEFAULT_SCOPES, Clocks, Setup

__all__ = [
    "DEFAULT_SCOPES",
    "ApiCall",
    "Channel",
    "Clocks",
    "Delivery",
    "Faults",
    "Gate",
    "Message",
    "Notification",
    "Parcel",
    "Person",
    "Receipt",
    "Setup",
    "SharedFile",
    "SlackError",
    "SlackSim",
    "Tamper",
    "UserGroup",
    "View",
    "check_message",
    "check_view",
]
