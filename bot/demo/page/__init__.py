"""The demo in a browser: a page that shows the simulated workspace and cluster, and the small server behind it.

Started by demo/run_page, which builds the `Scene`. The page knows the simulators and nothing of the bot: what it shows
is what Slack would show. `wire` speaks HTTP, `guard` keeps other sites out, `routes` leads a request to a picture
(`picture`, `strip`) or to an act (`acts`, `controls`); `static/` is the page itself.
"""

from bot.demo.page.page import Page, PortTaken
from bot.demo.page.scene import Command, Control, Ending, Moved, Press, Role, Scene, Step

__all__ = ["Command", "Control", "Ending", "Moved", "Page", "PortTaken", "Press", "Role", "Scene", "Step"]
