"""`log`: the audit, for admins."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.log_words import LogWords, mentioned
from bot.flows.read_audit import LogAsked, read_audit, send_audit
from bot.views.answers.audit_log import audit_log, log_sent
from bot.views.answers.help import CommandHelp

HELP = CommandHelp(
    name="log",
    group="Admin",
    summary="Who did what, the newest first (admins).",
    syntax="log [Q | @PERSON | TEAM] [last DUR] [csv]",
    examples=("log Q-142", "log vision last 7d", "log @ada csv"),
)


def run(arrived: Arrived, said: LogWords) -> Message:
    """Raises Refused."""
    who = None
    if said.person:
        who = next(iter(mentioned(arrived.get("text"))), None)
        if who is None:
            raise Refused(f"Slack did not say who {said.person} is. Pick the name from the list behind the @.")
    asked = LogAsked(said.request, who, said.team, said.last)
    if said.csv:
        return log_sent(send_audit(arrived.world, arrived.user, asked))
    return audit_log(read_audit(arrived.world, arrived.user, asked))
