"""files.*: the three steps of an upload, and what goes wrong between them."""

import urllib.request
from collections.abc import Callable
from typing import Any
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


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("files.getUploadURLExternal", {"filename": "a.csv", "length": "many"}),
        ("files.getUploadURLExternal", {"filename": "a.csv", "length": 0}),
        ("files.getUploadURLExternal", {"length": 1}),
        ("files.completeUploadExternal", {"files": "[]"}),
        ("files.completeUploadExternal", {"files": "{"}),
    ],
)
def test_arguments_that_make_no_sense(town, error_of, method: str, args: dict[str, Any]) -> None:
    assert error_of(lambda: town.client.api_call(method, json=args)) == "invalid_arguments"


def test_a_file_is_shared_only_where_the_bot_may_post(town, error_of) -> None:
    elsewhere = town.slack.add_channel("elsewhere", with_bot=False)
    old = town.slack.add_channel("old")
    town.slack.change_channel(old.id, is_archived=True)

    def complete(channel: str) -> Callable[[], object]:
        return lambda: town.client.files_completeUploadExternal(files=[{"id": "F1"}], channel_id=channel)

    assert error_of(complete(elsewhere.id)) == "not_in_channel"
    assert error_of(complete(old.id)) == "is_archived"


def test_a_shared_file_is_read_with_the_token(town) -> None:
    answer = town.client.files_upload_v2(channel=town.room.id, filename="bill.csv", content="team,hours\n")
    url = answer["files"][0]["url_private"]
    token = {"Authorization": f"Bearer {town.slack.bot_token}"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=token)) as download:
        assert download.read() == b"team,hours\n"
    for wrong in (url, f"{town.slack.world.site}/files/F404", f"{town.slack.world.site}/elsewhere"):
        with pytest.raises(HTTPError, match="404") as caught:
            urllib.request.urlopen(wrong)
        caught.value.close()
