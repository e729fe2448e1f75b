"""The Chat role against the simulated Slack: what is posted once, what is found again, and each failure by itself."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from bot.adapters.slack import calls, chat
from bot.core.errors import Rejected, Unavailable
from bot.core.messages import Home, MessageRef
from bot.demo.slack import DEFAULT_SCOPES, Faults
from bot.ports.chat import PostUnknown
from tests.support.slack_town import Town, form, words
from tests.support.slack_watch import WATCH

Arm = Callable[[Faults, str], None]

NOT_POSTED: dict[str, tuple[Arm, Exception]] = {
    "429": (lambda faults, method: faults.rate_limited(method, 7), Unavailable("Slack", "rate limit")),
    "not now": (lambda faults, method: faults.refuse(method, "service_unavailable"), Unavailable("Slack", "")),
    "missing scope": (lambda faults, method: faults.refuse(method, "missing_scope"), Unavailable("Slack", "")),
    "token revoked": (lambda faults, method: faults.refuse(method, "token_revoked"), Unavailable("Slack", "")),
    "archived": (lambda faults, method: faults.refuse(method, "is_archived"), Rejected("Slack", "")),
}
NOBODY_KNOWS: dict[str, tuple[Arm, bool]] = {
    "500": (lambda faults, method: faults.http_500(method), False),
    "dropped before": (lambda faults, method: faults.drop_before(method), False),
    "dropped after": (lambda faults, method: faults.drop_after(method), True),
    "not JSON": (lambda faults, method: faults.not_json(method), True),
    "fatal error": (lambda faults, method: faults.refuse(method, "fatal_error"), False),
    "internal error": (lambda faults, method: faults.refuse(method, "internal_error"), False),
}


@pytest.mark.parametrize("name", NOT_POSTED)
def test_a_post_that_was_certainly_not_made_says_so(town: Town, name: str) -> None:
    arm, expected = NOT_POSTED[name]
    arm(town.slack.faults, "chat.postMessage")
    with pytest.raises(type(expected)):
        town.chat.post(town.room, words("hello"), "n1")
    assert (town.slack.messages(town.room), town.count("chat.postMessage")) == ((), 1)


@pytest.mark.parametrize("name", NOBODY_KNOWS)
def test_a_post_whose_answer_was_lost_is_unknown_and_never_made_twice(town: Town, name: str) -> None:
    arm, landed = NOBODY_KNOWS[name]
    arm(town.slack.faults, "chat.postMessage")
    with pytest.raises(PostUnknown):
        town.chat.post(town.room, words("hello"), "n1")
    assert town.count("chat.postMessage") == 1
    assert len(town.slack.messages(town.room)) == landed
    found = town.chat.find(town.room, "n1", town.clock() - timedelta(minutes=1))
    assert (found is not None) is landed


def test_a_post_that_takes_too_long_is_unknown(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "TIMEOUT_SECONDS", 0.2)
    hasty = town.new_chat()
    gate = town.slack.faults.hold("chat.postMessage")
    with pytest.raises(PostUnknown):
        hasty.post(town.room, words("hello"), "n1")
    gate.release()


def test_slack_that_is_not_there_has_posted_nothing(town: Town) -> None:
    """A refused connection is certain, unlike a broken one."""
    town.slack.stop()
    with pytest.raises(Unavailable, match="connection refused"):
        town.chat.post(town.room, words("hello"), "n1")


def test_a_rate_limit_says_when_to_come_again(town: Town) -> None:
    town.slack.faults.rate_limited("chat.postMessage", 17)
    with pytest.raises(Unavailable) as caught:
        town.chat.post(town.room, words("hello"), "n1")
    assert caught.value.retry_after == timedelta(seconds=17)


def test_the_real_pace_of_a_channel_is_a_rate_limit_too(make_town: Callable[..., Town]) -> None:
    town = make_town(pacing=True)
    with pytest.raises(Unavailable) as caught:
        for number in range(20):
            town.chat.post(town.room, words("hello"), f"n{number}")
    assert caught.value.retry_after is not None


@pytest.mark.parametrize(
    ("to", "code"), [("C0NOWHERE", "channel_not_found"), ("U0NOBODY", "channel_not_found"), ("", "channel_not_found")]
)
def test_a_place_that_is_not_there_is_named_by_slacks_code(town: Town, to: str, code: str) -> None:
    with pytest.raises(Rejected) as caught:
        town.chat.post(to, words("hello"), "n1")
    assert caught.value.code == code


def test_a_channel_without_the_bot_is_rejected(town: Town) -> None:
    other = town.slack.add_channel("secret", town.ada, with_bot=False).id
    with pytest.raises(Rejected, match="not_in_channel"):
        town.chat.post(other, words("hello"), "n1")


def test_a_missing_scope_says_which(make_town: Callable[..., Town]) -> None:
    town = make_town(scopes=DEFAULT_SCOPES - {"chat:write"})
    with pytest.raises(Unavailable, match="missing_scope needed: chat:write: add the scope"):
        town.chat.post(town.room, words("hello"), "n1")


@pytest.mark.parametrize(
    ("code", "what_to_do"),
    [
        ("not_authed", "SLACK_BOT_TOKEN"),
        ("invalid_auth", "SLACK_BOT_TOKEN"),
        ("token_expired", "SLACK_BOT_TOKEN"),
        ("token_revoked", "install the app again"),
        ("account_inactive", "install the app again"),
        ("org_login_required", "an admin of the workspace"),
        ("ekm_access_denied", "an admin of the workspace"),
        ("team_access_not_granted", "an admin of the workspace"),
    ],
)
def test_a_bot_that_is_not_let_in_can_try_later_and_says_what_to_do(town: Town, code: str, what_to_do: str) -> None:
    """Whatever was asked: nothing is wrong with it."""
    ref = town.chat.post(town.room, words("hello"), "n1")
    uses: dict[str, Callable[[], object]] = {
        "chat.postMessage": lambda: town.chat.post(town.room, words("hello"), "n2"),
        "chat.update": lambda: town.chat.update(ref, words("hello")),
        "conversations.history": lambda: town.chat.find(town.room, "n1", town.clock()),
        "users.info": lambda: town.chat.person(town.ada),
    }
    for method, use in uses.items():
        town.slack.faults.refuse(method, code)
        with pytest.raises(Unavailable, match=f"{code}: .*{what_to_do}"):
            use()


def test_content_that_slack_refuses_comes_with_its_reason(town: Town) -> None:
    with pytest.raises(Rejected) as caught:
        town.chat.post(town.room, words("x" * 3001), "n1")
    assert caught.value.code == "invalid_blocks"
    assert "/blocks/0/text/text" in caught.value.detail
    assert [one.path for one in WATCH.taken()] == ["/blocks/0/text/text"]
    assert town.count("chat.postMessage") == 1


def _posted(town: Town, where: str) -> tuple[str, MessageRef | None, MessageRef]:
    """A message in a channel, a DM or a thread: to whom, in which thread, and where it stands."""
    to = town.ada if where == "DM" else town.room
    thread = town.chat.post(to, words("the beginning"), "n0") if where == "thread" else None
    return to, thread, town.chat.post(to, words("hello"), "n1", thread)


@pytest.mark.parametrize("where", ["channel", "DM", "thread"])
def test_a_message_is_found_by_its_notice(town: Town, where: str) -> None:
    to, thread, ref = _posted(town, where)
    since = town.clock() - timedelta(minutes=1)
    assert town.chat.find(to, "n1", since, thread) == ref
    assert town.chat.find(to, "n2", since, thread) is None
    assert town.new_chat().find(to, "n1", since, thread) == ref


@pytest.mark.parametrize("where", ["channel", "DM", "thread"])
def test_a_message_is_found_on_a_later_page(town: Town, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "HISTORY_PAGE", 3)
    to, thread, ref = _posted(town, where)
    for number in range(2, 10):
        town.chat.post(to, words("more"), f"n{number}", thread)
    method = "conversations.replies" if thread else "conversations.history"
    since = town.clock() - timedelta(minutes=1)
    assert town.chat.find(to, "n1", since, thread) == ref
    assert town.chat.find(to, "n9", since, thread) != ref
    assert town.chat.find(to, "nowhere", since, thread) is None
    assert town.count(method) > 4


def test_history_is_read_from_the_given_moment_on(town: Town) -> None:
    old = town.chat.post(town.room, words("hello"), "n1")
    town.clock.move(hours=1)
    assert town.chat.find(town.room, "n1", town.clock()) is None
    assert town.chat.find(town.room, "n1", town.clock() - timedelta(hours=1, seconds=1)) == old


def test_what_people_say_is_not_mistaken_for_a_notice(town: Town) -> None:
    town.slack.say(town.ada, town.room, "n1")
    assert town.chat.find(town.room, "n1", town.clock() - timedelta(minutes=1)) is None


@pytest.mark.parametrize("scope", ["channels:history", "im:history"])
def test_history_that_may_not_be_read_is_rejected(make_town: Callable[..., Town], scope: str) -> None:
    town = make_town(scopes=DEFAULT_SCOPES - {scope})
    to = town.ada if scope.startswith("im") else town.room
    with pytest.raises(Rejected, match=f"missing_scope needed: {scope}"):
        town.chat.find(to, "n1", town.clock())


@pytest.mark.parametrize("name", [*NOBODY_KNOWS, "429"])
def test_a_search_that_fails_has_not_found_nothing(town: Town, name: str) -> None:
    town.chat.post(town.room, words("hello"), "n1")
    arm = NOBODY_KNOWS[name][0] if name in NOBODY_KNOWS else NOT_POSTED[name][0]
    arm(town.slack.faults, "conversations.history")
    with pytest.raises(Unavailable):
        town.chat.find(town.room, "n1", town.clock() - timedelta(minutes=1))


@pytest.mark.parametrize("where", ["channel", "DM", "thread"])
def test_a_message_is_updated_where_it_stands(town: Town, where: str) -> None:
    """A post to a person comes back with the DM's own id: an update takes no other."""
    _, _, ref = _posted(town, where)
    assert ref.channel.startswith("D" if where == "DM" else "C")
    town.chat.update(ref, words("goodbye"))
    seen = town.slack.calls("chat.update")[-1]
    assert seen.ok
    assert (seen.args["channel"], seen.args["ts"]) == ref


def test_an_update_of_a_person_is_rejected_as_slack_does(town: Town) -> None:
    ref = town.chat.post(town.ada, words("hello"), "n1")
    with pytest.raises(Rejected, match="channel_not_found"):
        town.chat.update(MessageRef(town.ada, ref.ts), words("goodbye"))


def test_an_update_of_what_is_gone_is_rejected(town: Town) -> None:
    with pytest.raises(Rejected, match="message_not_found"):
        town.chat.update(MessageRef(town.room, "1.000001"), words("goodbye"))


@pytest.mark.parametrize("name", NOBODY_KNOWS)
def test_an_update_whose_answer_was_lost_is_tried_again_later(town: Town, name: str) -> None:
    ref = town.chat.post(town.room, words("hello"), "n1")
    NOBODY_KNOWS[name][0](town.slack.faults, "chat.update")
    with pytest.raises(Unavailable, match="no answer"):
        town.chat.update(ref, words("goodbye"))
    town.chat.update(ref, words("goodbye"))
    assert town.slack.messages(town.room)[-1].text == "goodbye"


def _response_url(town: Town) -> str:
    """Of a command that nobody listens to."""
    delivery = town.slack.type_command(town.ada, town.room, "/gpu-quota help")
    return str(delivery.payload["response_url"])


def test_a_response_url_takes_five_answers(town: Town) -> None:
    url = _response_url(town)
    for _ in range(5):
        town.chat.respond(url, words("here"))
    with pytest.raises(Rejected, match="response_url status 404"):
        town.chat.respond(url, words("once more"))
    assert len([one for one in town.slack.ephemerals(town.ada) if one.text == "here"]) == 5


def test_a_response_url_ends_after_half_an_hour(town: Town) -> None:
    url = _response_url(town)
    town.clock.move(minutes=31)
    with pytest.raises(Rejected, match="response_url"):
        town.chat.respond(url, words("late"))


@pytest.mark.parametrize("name", ["500", "dropped before", "dropped after", "429"])
def test_a_response_that_fails_is_unavailable(town: Town, name: str) -> None:
    url = _response_url(town)
    arm = NOBODY_KNOWS[name][0] if name in NOBODY_KNOWS else NOT_POSTED[name][0]
    arm(town.slack.faults, "response_url")
    with pytest.raises(Unavailable):
        town.chat.respond(url, words("here"))
    assert town.count("response_url") == 1


def _trigger(town: Town) -> str:
    return str(town.slack.type_command(town.ada, town.room, "/gpu-quota request").payload["trigger_id"])


def test_a_modal_is_opened_and_changed(town: Town) -> None:
    view_id = town.chat.open_view(_trigger(town), form())
    view = town.slack.open_view(town.ada)
    assert view is not None
    assert view.id == view_id
    town.chat.update_view(view_id, form(*words("changed").blocks))
    changed = town.slack.open_view(town.ada)
    assert changed is not None
    assert "changed" in town.slack.render_text(changed)


def test_a_trigger_is_used_once_and_soon(town: Town) -> None:
    trigger = _trigger(town)
    town.chat.open_view(trigger, form())
    with pytest.raises(Rejected, match="exchanged_trigger_id"):
        town.chat.open_view(trigger, form())
    late = _trigger(town)
    town.slack.expire_triggers()
    with pytest.raises(Rejected, match="expired_trigger_id"):
        town.chat.open_view(late, form())


def test_a_modal_that_was_closed_cannot_be_changed(town: Town) -> None:
    with pytest.raises(Rejected, match="not_found"):
        town.chat.update_view("V0GONE", form())


@pytest.mark.parametrize("name", NOBODY_KNOWS)
def test_a_modal_whose_answer_was_lost_is_unavailable(town: Town, name: str) -> None:
    NOBODY_KNOWS[name][0](town.slack.faults, "views.open")
    with pytest.raises(Unavailable, match="no answer"):
        town.chat.open_view(_trigger(town), form())


def home(text: str = "hello") -> Home:
    return Home(words(text).blocks, datetime(2026, 12, 2, 12, 0, tzinfo=UTC))


def test_a_home_tab_is_replaced_by_its_hash(town: Town) -> None:
    first = town.chat.publish_home(town.ada, home(), None)
    second = town.chat.publish_home(town.ada, home("again"), first)
    with pytest.raises(Rejected, match="hash_conflict"):
        town.chat.publish_home(town.ada, home("stale"), first)
    shown = town.slack.home(town.ada)
    assert shown is not None
    assert shown.hash == second
    assert town.slack.render_text(shown).splitlines() == ["As of today 1:00 PM", "again"]


@pytest.mark.parametrize("name", [*NOT_POSTED, *NOBODY_KNOWS])
def test_a_home_tab_that_was_not_shown_says_whether_to_try_again(town: Town, name: str) -> None:
    arm = (NOT_POSTED | NOBODY_KNOWS)[name][0]
    arm(town.slack.faults, "views.publish")
    never = name in {"archived", "missing scope"}
    with pytest.raises(Rejected if never else Unavailable):
        town.chat.publish_home(town.ada, home(), None)
    assert town.count("views.publish") == 1


def test_a_link_to_a_message_is_asked_for_once(town: Town) -> None:
    ref = town.chat.post(town.room, words("hello"), "n1")
    link = town.chat.permalink(ref)
    assert link.endswith(f"/archives/{ref.channel}/p{ref.ts.replace('.', '')}")
    assert (town.chat.permalink(ref), town.count("chat.getPermalink")) == (link, 1)
    with pytest.raises(Rejected, match="message_not_found"):
        town.chat.permalink(MessageRef(town.room, "1.1"))


def test_links_are_forgotten_before_they_are_too_many(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "MOST_LINKS", 2)
    refs = [town.chat.post(town.room, words(f"hello {number}"), f"n{number}") for number in range(3)]
    links = [town.chat.permalink(ref) for ref in refs]
    assert [town.chat.permalink(ref) for ref in refs] == links
    assert 3 < town.count("chat.getPermalink") <= 6
