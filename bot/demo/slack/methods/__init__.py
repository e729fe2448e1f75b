"""The Web API's methods, a module per family, and the table `web_api` finds them in."""

from collections.abc import Mapping

from bot.demo.slack.methods import app, chat, conversations, files, usergroups, users, views
from bot.demo.slack.methods.call import Method

METHODS: Mapping[str, Method] = {
    **app.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **files.METHODS,
    **usergroups.METHODS,
    **users.METHODS,
    **views.METHODS,
}
