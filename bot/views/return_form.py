"""The form that asks how many devices go back early. Opened by Return, and by `return Q-142` without a number."""

from datetime import timedelta

from bot.core.durations import format_duration
from bot.core.loans import Loan
from bot.core.messages import Modal
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit, devices, of_flavor
from bot.views.ids import Field, View
from bot.views.inputs import whole_number
from bot.views.kit import line, rich
from bot.views.parts import Line, Theirs


def return_form(loan: Loan, above_base: int | None = None, unit: Unit = GPU, grace: timedelta | None = None) -> Modal:
    """The amount (all of it by default). `above_base`: devices in use above the quota without the loan, None if that is
    not known. `grace`: after which they are evicted once all is given back. `metadata` is the loan's number."""
    lent = line(of_flavor(loan.amount, loan.flavor), " on loan to ", Theirs(loan.borrower))
    hint = f"Whole {unit.many}, 1 to {loan.amount:,}"
    amount = whole_number(Field.RETURN_AMOUNT, "How many go back", loan.amount, loan.amount, hint)
    again = line("To get them again you need a new request")
    title = f"Return {format_request_id(loan.id)}"
    blocks = (rich(lent, _in_use(above_base, unit, grace), again), amount)
    return Modal(View.RETURN_FORM, title, blocks, "Return", metadata=str(loan.id))


def _in_use(above_base: int | None, unit: Unit, grace: timedelta | None) -> Line:
    if above_base != 0 and grace is not None:
        known = "not known" if above_base is None else devices(above_base, unit)
        return line(f"In use above base: {known}. Once all is given back, evicted after {format_duration(grace)}")
    if above_base is None:
        return line("In use above base: not known. Work that runs is not stopped")
    if not above_base:
        return line("Nothing runs above base")
    they = "it runs" if above_base == 1 else "they run"
    return line(f"{devices(above_base, unit)} in use above base: {they} on above quota")
