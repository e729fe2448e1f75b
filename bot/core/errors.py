"""Failures that people are told about, and failures of what the bot depends on.

`Refused` carries the sentence its reader sees. The others say which dependency failed and whether trying again can
help; adapters raise them with the vendor's exception as cause, flows and workers decide what to do.
"""

from datetime import timedelta


class Refused(Exception):
    """The answer is no. `sentence` is shown as it stands (text is text: it is never parsed as markup)."""

    def __init__(self, sentence: str, field: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field
        """Form field (block_id) that the sentence belongs to, None if to the whole."""


class Unavailable(Exception):
    """A dependency does not answer, or answers that it cannot now. Trying again later can help."""

    def __init__(self, what: str, why: str, retry_after: timedelta | None = None) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        """Slack, API server, Kueue, database, Prometheus."""
        self.why = why
        self.retry_after = retry_after


class Rejected(Exception):
    """A dependency understood and said no: trying the same again cannot help."""

    def __init__(self, what: str, code: str, detail: str = "") -> None:
        super().__init__(f"{what}: {code} {detail}".rstrip())
        self.what = what
        self.code = code
        self.detail = detail


class NoRight(Rejected):
    """The API server knows the bot and does not let it do this. `resource` is a plural with its group, or a path."""

    def __init__(self, what: str, verb: str, resource: str, words: str) -> None:
        super().__init__(what, "no right", f"{verb} {short_name(resource)}: {words}")
        self.verb = verb
        self.resource = resource
        self.words = words
        """The server's own, clipped."""


def short_name(resource: str) -> str:
    """Without the group: `workloads` of `workloads.kueue.x-k8s.io`. A path stays as it is."""
    return resource if resource.startswith("/") else resource.partition(".")[0]


class Stale(Exception):
    """A compare-and-set lost: somebody changed the row since it was read. Read again and decide again."""


class AlreadyHandled(Stale):
    """Somebody else finished this very arrival, and answers it: there is nothing left to do."""


class NotLeader(Exception):
    """The epoch of this claim of work is not the current one any more."""
