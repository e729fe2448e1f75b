"""What approvals.yaml may say of loans that lie idle."""

from datetime import timedelta

from bot.core.policy.scalars import Duration, Strict, Switch


class IdleLoans(Strict):
    """When an unused part of a loan is offered for early return."""

    offer: Switch = True
    after: Duration = timedelta(hours=12)
    """Unused for so long, as far as the bot was there to see it."""
    again_after: Duration = timedelta(days=1)
    """A loan is not asked about more often."""
    not_in_last: Duration = timedelta(hours=6)
    """Not so shortly before the end."""
