"""The Home tab's own arrivals: it was opened, or Refresh was pressed. Called by chat/directory."""

from bot.chat.desk import Arrived
from bot.flows.publish_home import open_home, refresh_home


def on_opened(arrived: Arrived) -> None:
    """Somebody looks at it now."""
    open_home(arrived.world, arrived.user, arrived.origin)


def on_refresh(arrived: Arrived) -> None:
    """As of now, whether or not anything changed."""
    refresh_home(arrived.world, arrived.user)


def on_open_card(_arrived: Arrived) -> None:
    """Slack has opened the link by itself: a press of it is only acknowledged."""
