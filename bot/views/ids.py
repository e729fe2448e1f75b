"""Every action_id, block_id and callback_id that the bot sends, written once; chat listens to these and no others.

A button's `value` is an opaque id (request, offer, loan, question, form draft). The revision of the picture stands in
the block_id of its row of buttons, so that a press on an old picture is known by its block.
"""

import hashlib
import re
from enum import StrEnum
from typing import NamedTuple


class Action(StrEnum):
    """action_id of buttons. In brackets: what `value` names."""

    CARD_APPROVE = "gpuq_card_approve"
    """[request] approvers of the step; opens `View.OVERCOMMIT_FORM` if more may be promised than exists"""
    CARD_CHANGE = "gpuq_card_change"
    """[request] approvers of the step; opens `View.CHANGE_FORM`"""
    CARD_DENY = "gpuq_card_deny"
    """[request] approvers of the step; opens `View.DENY_FORM`"""
    CARD_DETAILS = "gpuq_card_details"
    """[request] whoever sees the card; opens `View.DETAILS`"""
    CARD_OPEN = "gpuq_card_open"
    """[request] whoever sees the Home tab: a link to the card, which Slack opens by itself"""
    OFFER_ACCEPT = "gpuq_offer_accept"
    """[offer] requester, the team's leads"""
    OFFER_KEEP = "gpuq_offer_keep"
    """[offer] requester, the team's leads: the request stays as it was asked"""
    REQUEST_WITHDRAW = "gpuq_request_withdraw"
    """[request] requester, the team's leads"""
    REQUEST_AGAIN = "gpuq_request_again"
    """[request] requester, the team's leads; opens the form filled from that request"""
    LOAN_EXTEND = "gpuq_loan_extend"
    """[loan] requester, the team's leads; opens `View.EXTEND_FORM`"""
    LOAN_RETURN = "gpuq_loan_return"
    """[loan] requester, the team's leads; opens `View.RETURN_FORM`"""
    LOAN_RETURN_IDLE = "gpuq_loan_return_idle"
    """[idle offer] requester, the team's leads: what is unused goes back"""
    LOAN_KEEP = "gpuq_loan_keep"
    """[idle offer] requester, the team's leads: nothing goes back"""
    LOAN_ASK_BACK = "gpuq_loan_ask_back"
    """[loan] lender's leads: ask the borrower to give it back"""
    ASK_BACK_KEEP = "gpuq_ask_back_keep"
    """[ask-back] requester, the team's leads: the loan stays"""
    LOAN_END = "gpuq_loan_end"
    """[loan] admins: end it before its time"""
    DRIFT_BASE = "gpuq_drift_base"
    """[question] admins: the number is the new base"""
    DRIFT_INCLUDED = "gpuq_drift_included"
    """[question] admins: the number includes the loans"""
    DRIFT_RESTORE = "gpuq_drift_restore"
    """[question] admins: put the loans back"""
    OPEN_REQUEST = "gpuq_home_request"
    """[draft, or "new"] members; opens the form"""
    HOME_REFRESH = "gpuq_home_refresh"
    """["new"] whoever sees the Home tab"""
    SHOW = "gpuq_home_show"
    """[loan] lender's leads; answers as `show LENDER`"""
    FORM_MORE = "gpuq_form_more"
    """[draft] shows lender, start and repeat in the form"""


class Field(StrEnum):
    """Inputs of forms: block_id and action_id are the same."""

    QUEUE = "gpuq_form_queue"
    FLAVOR = "gpuq_form_flavor"
    AMOUNT = "gpuq_form_amount"
    KIND = "gpuq_form_kind"
    UNTIL = "gpuq_form_until"
    UNTIL_AT = "gpuq_form_until_at"
    REASON = "gpuq_form_reason"
    LENDER = "gpuq_form_lender"
    START_AT = "gpuq_form_start_at"
    REPEAT = "gpuq_form_repeat"
    REPEAT_UNTIL = "gpuq_form_repeat_until"
    CHANGE_AMOUNT = "gpuq_change_amount"
    CHANGE_KIND = "gpuq_change_kind"
    CHANGE_LENDER = "gpuq_change_lender"
    CHANGE_UNTIL = "gpuq_change_until"
    CHANGE_UNTIL_AT = "gpuq_change_until_at"
    CHANGE_START_AT = "gpuq_change_start_at"
    CHANGE_WORDS = "gpuq_change_words"
    DENY_WORDS = "gpuq_deny_words"
    RETURN_AMOUNT = "gpuq_return_amount"
    EXTEND_BY = "gpuq_extend_by"
    EXTEND_UNTIL_AT = "gpuq_extend_until_at"
    EXTEND_WORDS = "gpuq_extend_words"
    OVERCOMMIT_TICK = "gpuq_overcommit_tick"


class View(StrEnum):
    """callback_id of modals, and of the global shortcut."""

    REQUEST_SHORTCUT = "gpuq_request"
    REQUEST_FORM = "gpuq_request_form"
    REQUEST_LOADING = "gpuq_request_loading"
    """Loading, checking, sent and not sent: states without a submit button."""
    CHANGE_FORM = "gpuq_change_form"
    DENY_FORM = "gpuq_deny_form"
    RETURN_FORM = "gpuq_return_form"
    EXTEND_FORM = "gpuq_extend_form"
    OVERCOMMIT_FORM = "gpuq_overcommit_form"
    DETAILS = "gpuq_details_view"


class Event(StrEnum):
    """What Slack tells without being asked. The manifest subscribes to these and no others."""

    HOME_OPENED = "app_home_opened"


DISPATCHING = frozenset({Field.QUEUE, Field.FLAVOR, Field.AMOUNT, Field.KIND, Field.UNTIL})
"""Inputs whose change is sent at once (block_actions), for the live lines of the form."""

KIND_BOT = "auto"
"""Option value of `Field.KIND`: let the bot choose. The others are LoanKind's values."""
UNTIL_DATE = "date"
"""Option value of `Field.UNTIL`: a date of one's own. The others are durations such as 8h, 1d, 2w."""
REPEAT_ONCE = "once"
"""Option value of `Field.REPEAT`: it does not repeat. The others are `core.series.Every`'s values."""
LENDER_BOT = "*"
"""Option value of `Field.LENDER`: let the bot choose. The others are queue names, of which none can be this."""
NEW = "new"
"""`value` of OPEN_REQUEST when no draft fills the form."""


_OPTION_VALUE = 150


def option_value(name: str) -> str:
    """A queue's or flavor's name as an option's value. Slack takes 150 characters; a longer name becomes its digest,
    so compare `option_value(known)` with what came back."""
    return name if 0 < len(name) <= _OPTION_VALUE else f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"


class PictureBlock(NamedTuple):
    """What a block_id says about the picture that was pressed."""

    kind: str
    id: str
    revision: int


_PICTURE = re.compile(r"(card|drift|idle):([^:]{1,200}):(\d{1,9})")


def card_block(request: int, revision: int) -> str:
    """block_id of a card's buttons."""
    return f"card:{request}:{revision}"


def drift_block(question: str, revision: int) -> str:
    """block_id of an outside edit's buttons."""
    return f"drift:{question}:{revision}"


def idle_block(offer: int, revision: int) -> str:
    """block_id of the buttons under the message about an idle loan."""
    return f"idle:{offer}:{revision}"


def picture_of(block_id: str) -> PictureBlock | None:
    """The kind (card, drift, idle), id and revision in a block_id; None if it carries none."""
    found = _PICTURE.fullmatch(block_id)
    return PictureBlock(found[1], found[2], int(found[3])) if found else None
