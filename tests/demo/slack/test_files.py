"""files.*: the three steps of an upload, and what goes wrong between them."""

import urllib.request
from collections.abc import Callable
from urllib.error import HTTPError

import pytest


def test_a_file_goes_through_the_three_steps(town) -> None:
    town.client.files_upload_v2(
        channel=town.room.id, filename="bill.csv", content="team,hours\n", title="Bill", initial_comment="The week"
    )
    message = town.slack.messages(town.room.id)[0]
    assert message.text == "The week"
    assert [(f.title, f.content) for f in message.files] == [("Bill", b"team,hours\n")]
    assert [call.method for call in town.slack.calls()] == [
        "files.getUploadURLExternal",
        "upload",
        "files.completeUploadExternal",
    ]


def test_files_that_do_not_arrive(town, error_of) -> None:
    half = town.client.files_getUploadURLExternal(filename="a.csv", length=10)
    listed = [{"id": half["file_id"], "title": "a"}]

    def complete(channel: str) -> Callable[[], object]:
        return lambda: town.client.files_completeUploadExternal(files=listed, channel_id=channel)

    assert error_of(complete(town.room.id)) == "file_not_found"
    assert error_of(complete("gpu")) == "channel_not_found"
    assert error_of(complete(town.ada.id)) == "channel_not_found"
    with pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(half["upload_url"], data=b"short")
    assert caught.value.read() == b"invalid_length"
    caught.value.close()
