"""What an API server's answer to a patch proves. Used by adapters/kube/cluster; the table is from real answers."""

from bot.adapters.kube.client import Answer
from bot.core.convergence.changes import PatchOutcome

WORDS_LIMIT = 200
"""Characters of vendor text that reach people: a validation message can carry the whole object."""


def classify(answer: Answer) -> PatchOutcome:
    """The outcome of one PATCH, dry run or not."""
    status, message = answer.status, answer.message
    if status == 200:
        return PatchOutcome.APPLIED
    if status == 403:
        # A refusing webhook and a missing right are both 403; only the text tells them apart.
        return PatchOutcome.REFUSED if message.startswith("admission webhook") else PatchOutcome.FORBIDDEN
    if status == 500 and "failed calling webhook" in message:
        return PatchOutcome.KUEUE_DOWN
    if status == 422:
        return PatchOutcome.REFUSED if _has_causes(answer) else PatchOutcome.CONFLICT
    return _BY_STATUS.get(status, PatchOutcome.UNKNOWN)


_BY_STATUS = {
    400: PatchOutcome.REFUSED,
    401: PatchOutcome.FORBIDDEN,
    404: PatchOutcome.CONFLICT,
    409: PatchOutcome.CONFLICT,
    429: PatchOutcome.CONFLICT,  # turned away before it was looked at
}


def words(answer: Answer) -> str:
    """The server's own text, clipped."""
    text = answer.message or f"status {answer.status}"
    return text if len(text) <= WORDS_LIMIT else text[: WORDS_LIMIT - 1] + "…"


def _has_causes(answer: Answer) -> bool:
    """A failed JSON Patch test is a 422 without any cause; a schema's refusal names the field."""
    details = answer.body.get("details") or {}
    return bool(details.get("causes"))
