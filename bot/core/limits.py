"""The limits of approvals.yaml: what no rule can exceed, and how fast one person may ask. Each refusal is a sentence.

`over_limits` is part of every verdict; `refusals` is asked once, when a request is made.
"""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.core.drafts import AskField
from bot.core.durations import format_duration
from bot.core.errors import Refused
from bot.core.policy import Policy
from bot.core.policy.approvals import Limits
from bot.core.repeating import date_words
from bot.core.request_facts import Pace, RequestFacts
from bot.core.series import Series, times

HOUR = timedelta(hours=1)


def over_limits(policy: Policy, facts: RequestFacts) -> tuple[Refused, ...]:
    """Limits on the loan itself that this request is over, each on its field."""
    limits, ask = policy.approvals.limits, facts.ask
    over: list[Refused] = []
    if not policy.approvals.allows(ask.kind):
        over.append(Refused(f"{ask.kind.value} loans are off here.", AskField.KIND))
    if ask.amount > limits.most_per_request:
        most = f"the limit of {limits.most_per_request:,} per request for {ask.team}"
        over.append(Refused(f"{ask.amount:,} is over {most}.", AskField.AMOUNT))
    if facts.duration > limits.longest:
        longest = f"the limit of {format_duration(limits.longest)} for {ask.team}"
        length = format_duration(facts.duration) + (" in all" if facts.extends else "")
        over.append(Refused(f"{length} is over {longest}.", AskField.UNTIL))
    elif facts.duration <= timedelta():
        over.append(Refused("This time has passed.", AskField.UNTIL))
    if ask.series is not None:
        over += _series_over(limits, ask.series, facts.now)
    if facts.on_loan > limits.most_on_loan_per_team:
        left = max(0, limits.most_on_loan_per_team - facts.others_on_loan)
        held = f"{facts.others_on_loan:,} of {limits.most_on_loan_per_team:,} on loan for {ask.team}"
        each = f" {ask.amount:,} {times(facts.times)} are {ask.amount * facts.times:,}." if facts.times > 1 else ""
        over.append(Refused(f"{held}; at most {left:,} more.{each}", AskField.AMOUNT))
    return tuple(over)


def _series_over(limits: Limits, series: Series, now: datetime) -> list[Refused]:
    """How often and how far ahead a series may go; what to say instead is the day on which its last one may begin."""
    left = series.left(now)
    count, far = len(left), bool(left) and left[-1].end - now > limits.longest_series
    within = [span for span in left[: limits.most_times_per_series] if span.end - now <= limits.longest_series]
    if not far and count <= limits.most_times_per_series:
        return []
    zone = ZoneInfo(series.zone)
    instead = f" Say until {date_words(within[-1].start.astimezone(zone).date())}." if within else ""
    if count > limits.most_times_per_series:
        limit = f"the limit of {limits.most_times_per_series:,} per series"
        return [Refused(f"{times(count)} is over {limit}.{instead}", AskField.REPEAT_UNTIL)]
    limit = f"A series may end {format_duration(limits.longest_series)} ahead at most."
    return [Refused(f"{limit}{instead}", AskField.REPEAT_UNTIL)]


def refusals(policy: Policy, facts: RequestFacts, pace: Pace) -> tuple[Refused, ...]:
    """Everything that stops this person from making this request, the whole before the fields."""
    limits = policy.approvals.limits
    stops = [*_too_fast(policy, facts.now, pace)]
    if pace.open_requests >= limits.open_requests_per_person:
        are = "request is" if pace.open_requests == 1 else "requests are"
        stops.append(Refused(f"{pace.open_requests:,} {are} open. Withdraw one first."))
    stops += over_limits(policy, facts)
    if limits.reason_required and not facts.ask.reason.strip():
        stops.append(Refused("Say why in a few words.", AskField.REASON))
    return tuple(stops)


def _too_fast(policy: Policy, now: datetime, pace: Pace) -> tuple[Refused, ...]:
    most = policy.approvals.limits.requests_per_hour
    recent = sorted(at for at in pace.last_hour if now - HOUR < at <= now)
    if len(recent) < most:
        return ()
    following = (recent[-most] + HOUR).astimezone(ZoneInfo(pace.timezone))
    are = "1 request" if most == 1 else f"{most:,} requests"
    return (Refused(f"{are} in an hour is the limit; next at {following:%H:%M}. Nothing was sent."),)
