"""The API server's refusals: every `Status` a client may read, with the text the real server writes.

Raised anywhere inside the simulator as `ApiError` and turned into a response at its edge (api.py). Texts are as
recorded in tests/captures; those that were not recorded follow the server's own grammar.
"""

import json
from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]

WEBHOOK_HOST = "https://kueue-webhook-service.kueue-system.svc:19443"
REFUSED = "dial tcp 127.0.0.1:19443: connect: connection refused"


class ApiError(Exception):
    """A request refused: `code` is the HTTP status, `body` the `Status` object (or plain text where the server
    sends text).
    """

    def __init__(self, code: int, body: Obj | str, headers: dict[str, str] | None = None) -> None:
        super().__init__(body if isinstance(body, str) else body.get("message", ""))
        self.code = code
        self.body = body
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Cause:
    """One broken field rule. `kind` is the reason in `details.causes`, `text` what follows `<field>: ` in the
    message.
    """

    field: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.field}: {self.text}"


def quoted(value: object) -> str:
    """A value as Go's %q prints it in field errors."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, separators=(",", ":"))


def bad_value(field: str, value: object, text: str) -> Cause:
    return Cause(field, "FieldValueInvalid", f"Invalid value: {quoted(value)}: {text}")


def rule_broken(field: str, text: str) -> Cause:
    """A schema expression that does not hold; these print no value."""
    return Cause(field, "FieldValueInvalid", f"Invalid value: {text}")


def duplicate(field: str, value: object) -> Cause:
    return Cause(field, "FieldValueDuplicate", f"Duplicate value: {quoted(value)}")


def required(field: str, text: str = "") -> Cause:
    return Cause(field, "FieldValueRequired", "Required value" + (f": {text}" if text else ""))


def unsupported(field: str, value: object, allowed: tuple[str, ...]) -> Cause:
    listed = ", ".join(quoted(item) for item in allowed)
    return Cause(field, "FieldValueNotSupported", f"Unsupported value: {quoted(value)}: supported values: {listed}")


NOT_CHECKED = Cause(
    "<nil>",
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


def joined(causes: list[Cause]) -> str:
    """Field errors as one text: bare when there is one, in brackets when there are several."""
    if len(causes) == 1:
        return str(causes[0])
    return "[" + ", ".join(str(cause) for cause in causes) + "]"


def status(code: int, reason: str, message: str, details: Obj | None = None) -> Obj:
    body: Obj = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    if reason:
        body["reason"] = reason
    if details is not None:
        body["details"] = details
    body["code"] = code
    return body


def error(code: int, reason: str, message: str, details: Obj | None = None) -> ApiError:
    return ApiError(code, status(code, reason, message, details))


def page_not_found() -> ApiError:
    return ApiError(404, "404 page not found\n")


def bad_request(message: str) -> ApiError:
    return error(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return error(401, "Unauthorized", "Unauthorized")


def _named(group: str, plural: str) -> str:
    return f"{plural}.{group}" if group else plural


def _details(group: str, kind: str, name: str = "") -> Obj:
    details: Obj = {"name": name} if name else {}
    if group:
        details["group"] = group
    details["kind"] = kind
    return details


def not_found(group: str, plural: str, name: str) -> ApiError:
    return error(404, "NotFound", f'{_named(group, plural)} "{name}" not found', _details(group, plural, name))


def already_exists(group: str, plural: str, name: str) -> ApiError:
    message = f'{_named(group, plural)} "{name}" already exists'
    return error(409, "AlreadyExists", message, _details(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str = "") -> ApiError:
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    message = f'Operation cannot be fulfilled on {_named(group, plural)} "{name}": {why}'
    return error(409, "Conflict", message, _details(group, plural, name))


def invalid(group: str, kind: str, name: str, causes: list[Cause]) -> ApiError:
    details = _details(group, kind, name)
    details["causes"] = [{"reason": c.kind, "message": c.text, "field": c.field} for c in causes]
    return error(422, "Invalid", f'{_named(group, kind)} "{name}" is invalid: {joined(causes)}', details)


def patch_failed() -> ApiError:
    """A JSON Patch that does not apply: the server does not say which operation."""
    return error(422, "Invalid", "the server rejected our request due to an error in our request", {})


def denied(webhook: str, text: str) -> ApiError:
    return error(403, "Forbidden", f'admission webhook "{webhook}" denied the request: {text}')


def undecodable(webhook: str, text: str) -> ApiError:
    """What a mutating webhook answers when it cannot decode the object: 400, and no reason."""
    return error(400, "", f'admission webhook "{webhook}" denied the request: {text}')


def webhook_down(webhook: str, path: str) -> ApiError:
    post = f'Post "{WEBHOOK_HOST}{path}?timeout=10s": {REFUSED}'
    text = f'failed calling webhook "{webhook}": failed to call webhook: {post}'
    return error(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})


def conversion_down(stored: str, kind: str) -> ApiError:
    text = f'conversion webhook for {stored}, Kind={kind} failed: Post "{WEBHOOK_HOST}/convert?timeout=30s": {REFUSED}'
    return error(500, "", text)


def unsupported_media_type(accepted: tuple[str, ...]) -> ApiError:
    text = "the body of the request was in an unknown format - accepted media types include: "
    return error(415, "UnsupportedMediaType", text + ", ".join(accepted))


def gone(asked: int, oldest: int) -> Obj:
    """The `Status` of a watch whose start is no longer kept: in the stream, or as the whole answer."""
    return status(410, "Expired", f"too old resource version: {asked} ({oldest})")
