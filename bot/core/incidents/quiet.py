"""Until when alerts wait: for what happens together, and for the end of quiet hours. Asked by flows/observe_work."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.core.policy.alerts import AlertsFile
from bot.core.policy.approvals import WEEKDAYS


def told_at(alerts: AlertsFile, zone: str, now: datetime) -> datetime:
    """When what began now is told. `zone` is the team's, unless the quiet hours have one of their own."""
    ready = now + alerts.gather
    hours = alerts.quiet_hours
    if hours is None:
        return ready
    there = ready.astimezone(ZoneInfo(hours.timezone or zone))
    for day in (there.date() - timedelta(days=1), there.date()):
        ends = day if hours.after < hours.until else day + timedelta(days=1)
        begin = datetime.combine(day, hours.after, there.tzinfo)
        end = datetime.combine(ends, hours.until, there.tzinfo)
        if WEEKDAYS[day.weekday()] in hours.days and begin <= there < end:
            return end.astimezone(now.tzinfo)
    return ready
