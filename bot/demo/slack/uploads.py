"""Files on their way in: announced, uploaded, then completed into a channel. Called with the lock held."""

from dataclasses import replace

from bot.demo.slack.entities import SharedFile
from bot.demo.slack.errors import SlackError
from bot.demo.slack.stamps import Ids


class Uploads:
    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._pending: dict[str, SharedFile] = {}
        self.shared: dict[str, SharedFile] = {}

    def announce(self, name: str, length: int) -> SharedFile:
        file = SharedFile(id=self._ids.next("F"), name=name, title=name, length=length)
        self._pending[file.id] = file
        return file

    def receive(self, file_id: str, content: bytes) -> None:
        """Take the bytes. Errors: `file_not_found`; `invalid_length` when they are not as many as announced."""
        file = self._pending.get(file_id)
        if file is None:
            raise SlackError("file_not_found")
        if len(content) != file.length:
            raise SlackError("invalid_length")
        self._pending[file_id] = replace(file, content=content)

    def complete(self, file_id: str, title: str | None, channel: str | None) -> SharedFile:
        """The finished file. Error: `file_not_found`, also while its bytes have not come in."""
        file = self._pending.get(file_id)
        if file is None or len(file.content) != file.length:
            raise SlackError("file_not_found")
        del self._pending[file_id]
        self.shared[file_id] = replace(file, title=title or file.name, channel=channel)
        return self.shared[file_id]
