"""The page's server: what it serves, whom it refuses, and that nothing a client sends brings it down."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bot.demo.page as package
from bot.demo.page.acts import ACTS
from bot.demo.page.controls import CONTROLS

STATIC = Path(package.__file__).parent / "static"
SOURCES = sorted(path.name for path in STATIC.iterdir())


def test_the_page_comes_with_its_token_and_a_strict_policy(town: Any, client: Any) -> None:
    status, body, headers = client.send("GET", "/")
    assert status == 200
    assert town.page.token.encode() in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "index.html"])
def test_every_file_is_served_as_what_it_is(client: Any, name: str) -> None:
    status, body, headers = client.send("GET", f"/static/{name}")
    kind = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}[name.rpartition(".")[2]]
    assert (status, body) == (200, (STATIC / name).read_bytes())
    assert headers["content-type"].startswith(kind)


@pytest.mark.parametrize("name", SOURCES)
def test_no_file_makes_markup_of_text_or_reaches_outside(name: str) -> None:
    text = (STATIC / name).read_text()
    assert (
        re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser", text)
        == []
    )
    assert re.findall(r"""(?:src|href|url\(|from|import|fetch\()\s*=?\s*["'`]?(?:https?:)?//""", text) == []
    assert re.findall(r"<script(?![^>]*src=)|\son\w+=|\sstyle=", text if name.endswith(".html") else "") == []


@pytest.mark.parametrize(
    "path",
    ["/static/", "/static/../page.py", "/static/%2e%2e/page.py", "//etc/passwd", "/nothing", "/static/index.html"],
)
def test_there_is_nothing_else_to_fetch(client: Any, path: str) -> None:
    assert client.send("GET", path)[0] == 404


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1.evil.example", "localhost.evil.example", "[::1]", ""]
)
@pytest.mark.parametrize("path", ["/", "/api/start"])
def test_another_host_name_is_refused(town: Any, client: Any, host: str, path: str) -> None:
    assert client.send("GET", path, Host=host, X_Demo_Token=town.page.token)[0] == 421


def test_localhost_is_a_name_of_this_host(client: Any) -> None:
    assert client.send("GET", "/", Host=f"localhost:{client.port}")[0] == 200


@pytest.mark.parametrize("token", ["", "wrong", "ä"])
@pytest.mark.parametrize(("verb", "path"), [("GET", "/api/start"), ("GET", "/api/look"), ("POST", "/api/say")])
def test_without_the_token_of_this_run_nothing_is_told_or_done(client: Any, token: str, verb: str, path: str) -> None:
    assert client.send(verb, path, b"{}", X_Demo_Token=token, Content_Type="application/json")[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_a_request_that_another_site_could_make_is_refused(
    town: Any, client: Any, headers: dict[str, str], status: int
) -> None:
    wanted = {"X_Demo_Token": town.page.token, "Content_Type": "application/json", **headers}
    body = json.dumps({"person": town.ids["mira"], "channel": town.ids["gpu"], "text": "hello"}).encode()
    assert client.send("POST", "/api/say", body, **wanted)[0] == status
    assert town.slack.messages(town.ids["gpu"]) == ()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content_Length": "70000"}, 413),
        ({"Content_Length": "9" * 5000}, 413),
        ({"Content_Length": "-1"}, 411),
        ({"Content_Length": "many"}, 411),
        ({"Transfer_Encoding": "chunked"}, 411),
    ],
)
def test_a_body_of_no_or_too_great_length_is_not_read(client: Any, headers: dict[str, str], status: int) -> None:
    assert client.send("POST", "/api/say", None, **headers)[0] == status


@pytest.mark.parametrize("verb", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_verbs_do_nothing(client: Any, verb: str) -> None:
    assert client.send(verb, "/")[0] == 501


NAMES = [*ACTS, *CONTROLS]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b'{"person": 7}', b'{"person": "U", "more": 1}', b"\xff"])
def test_a_body_that_is_not_understood_is_a_bad_request(client: Any, name: str, body: bytes) -> None:
    status, _ = client.post(name, body)
    assert status == 400 or (name == "jump" and status in (400, 409))


KEYS = st.sampled_from(
    ["person", "channel", "text", "ts", "place", "view", "values", "value", "action_id", "block_id", "queue", "gpus"]
)
TEXTS = st.one_of(st.sampled_from(["U0REQUESTER", "nlp", "", "/gpu-quota", "../..", "\x00"]), st.text(max_size=30))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(name=st.sampled_from([*NAMES, "nothing"]), content=st.dictionaries(KEYS, VALUES, max_size=6))
def test_no_content_makes_it_fail(client: Any, name: str, content: dict[str, Any]) -> None:
    assert client.post(name, content)[0] in {200, 400, 404, 409}


def test_no_answer_holds_a_token_of_slack(town: Any, client: Any) -> None:
    setup = town.slack.world.setup
    secrets = [setup.bot_token, setup.app_token, setup.signing_secret]
    told = json.dumps([client.get("/api/start"), client.look(town.ids["mira"]), client.look(town.ids["noor"])])
    assert [secret for secret in secrets if secret in told] == []


def _requests() -> bool:
    return any(one.name == "page-request" for one in threading.enumerate())


def test_a_look_that_waits_ends_with_the_page_and_no_thread_is_left(town: Any, client: Any) -> None:
    person = town.ids["mira"]
    seen = client.get(f"/api/look?person={person}&seen=")["seen"]
    path = f"/api/look?person={person}&seen={seen}"
    statuses: list[int] = []
    waiting = threading.Thread(
        target=lambda: statuses.append(client.send("GET", path, X_Demo_Token=town.page.token)[0])
    )
    town.slack.wait_for(lambda: not _requests())  # the first look's thread may outlive its answer
    waiting.start()
    town.slack.wait_for(_requests)
    town.page.__exit__(None, None, None)
    waiting.join(10)
    assert statuses == [204]
    assert [one.name for one in threading.enumerate() if one.name.startswith("page")] == []


def test_a_look_comes_back_when_something_is_said(town: Any, client: Any) -> None:
    person = town.ids["noor"]
    seen = client.get(f"/api/look?person={person}&seen=")["seen"]
    town.slack.say(town.ids["mira"], town.ids["gpu"], "news")
    picture = client.get(f"/api/look?person={person}&seen={seen}")["picture"]
    assert [one["text"] for one in picture["messages"][town.ids["gpu"]]] == ["news"]
