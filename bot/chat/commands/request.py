"""`request`: ask for quota in words; without words, or with too few, the form opens."""

from dataclasses import replace
from datetime import timedelta

from bot.chat.desk import Arrived
from bot.chat.form import open_form
from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.core.messages import Message
from bot.core.requests import RequestState
from bot.core.wording.request_words import RequestWords
from bot.flows.request_form import repeating
from bot.flows.submit_request import submit_request
from bot.views.answers.done import request_sent
from bot.views.answers.help import CommandHelp
from bot.views.request_form import FormValues

HELP = CommandHelp(
    name="request",
    group="Ask",
    summary="Ask for quota, for a time, from whoever has it to spare.",
    syntax="request [N] [FLAVOR] [for DUR | until WHEN] [starting WHEN] [every WEEK|DAY|WEEKDAY TIME to TIME] "
    "[in QUEUE] [as KIND] [from LENDER] [on CLUSTER] [because WORDS]",
    examples=(
        "request 8 a100 for 3d because paper deadline",
        "request 8 from nlp until fri 18:00 because demo",
        "request 8 every week fri 18:00 to mon 08:00 until 31 Jan because nightly sweeps",
        "request",
    ),
)
TRIGGER_LIFE = timedelta(seconds=2.5)
"""Slack's trigger lives 3 s; a form that opens later does not open at all."""


def run(arrived: Arrived, said: RequestWords) -> Message | None:
    """Raises Refused."""
    if said == RequestWords():
        return _form(arrived, FormValues())
    submitted = submit_request(arrived.world, draft_of(arrived.user, said), arrived.origin, arrived.origin)
    if isinstance(submitted, Question):
        return _ask(arrived, said, submitted)
    request, policy = submitted.request, arrived.world.policies.policy
    if request.state is RequestState.DENIED:
        raise Refused(f"Denied: {request.words}")
    channel = policy.approvals.approvals_channel if request.state is RequestState.WAITING else None
    return request_sent(request, channel, (*said.notes, *submitted.notes))


def draft_of(user: str, said: RequestWords) -> Draft:
    """What was said as a draft."""
    first = said.series.spans[0] if said.series else None
    return Draft(
        requester=user,
        cluster=said.cluster,
        queue=said.queue,
        flavor=said.flavor,
        resource=said.resource,
        amount=said.amount,
        kind=LoanKind(said.kind) if said.kind else None,
        lender=said.lender,
        start=first.start if first else said.starting.at if said.starting else None,
        duration=None if first else said.duration,
        until=first.end if first else said.until.at if said.until else None,
        series=said.series,
        reason=said.reason or "",
    )


def _ask(arrived: Arrived, said: RequestWords, question: Question) -> Message | None:
    """What is missing is asked in the form, filled with what was said; in words if it is too late to open one."""
    if question.options and question.field in {AskField.QUEUE, AskField.FLAVOR, AskField.CLUSTER}:
        like = f"in {question.options[0]}" if question.field is AskField.QUEUE else question.options[0]
        raise Refused(f"{question.sentence} Say it in the line, like: {like}")
    values = FormValues(
        queue=said.queue,
        flavor=said.flavor,
        amount=said.amount,
        kind=said.kind or FormValues().kind,
        lender=said.lender or FormValues().lender,
        start_at=said.starting.at if said.starting else None,
        reason=said.reason or "",
    )
    if said.series:
        values = repeating(values, said.series)
    elif said.until:
        values = replace(values, until="date", until_at=said.until.at)
    return _form(arrived, values, question.sentence)


def _form(arrived: Arrived, values: FormValues, otherwise: str = "") -> Message | None:
    if arrived.world.clock() - arrived.item.received_at < TRIGGER_LIFE and open_form(arrived, values):
        return None
    example = f"/gpu-quota {HELP.examples[0]}"
    raise Refused(f"{otherwise} The form could not be opened in time. In one line: {example}".strip())
