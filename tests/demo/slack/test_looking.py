"""What people read and what pings them: names, times in their own zone, buttons; other people's text stays text."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.demo.slack.dates import Eye, tell
from bot.demo.slack.render import Words, mrkdwn

Block = dict[str, Any]
EARLY = 1796212800  # Wed 2 Dec 2026, 12:00 UTC


OVER = {"text": {"type": "plain_text", "text": "I approve"}, "value": "1"}


def rich(*elements: Block, kind: str = "rich_text_section", **more: Any) -> Block:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": list(elements), **more}]}


def said(town, *blocks: Block, text: str = "x", channel: str | None = None):
    town.client.chat_postMessage(channel=channel or town.room.id, text=text, blocks=list(blocks))
    return town.slack.messages(channel or town.room.id)[-1]


def test_a_card_reads_as_on_a_phone_in_the_readers_zone(town) -> None:
    group = town.slack.add_group("gpu-admins", town.bob.id)
    date = {"type": "date", "timestamp": EARLY, "format": "{date_short_pretty} {time}", "fallback": "-"}
    item = {"type": "rich_text_section", "elements": [{"type": "text", "text": "4 free"}]}
    button = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "Approve"}}
    card = said(
        town,
        rich({"type": "text", "text": "8 a100 for <!channel>", "style": {"bold": True}}),
        rich({"type": "user", "user_id": town.ada.id}, {"type": "text", "text": " until "}, date),
        rich(item, kind="rich_text_list", style="bullet"),
        rich({"type": "usergroup", "usergroup_id": group.id}),
        {"type": "actions", "elements": [button, {**button, "action_id": "d"}]},
    )
    assert town.slack.render_text(card, town.ada.id).split("\n") == [
        "8 a100 for <!channel>",
        "@ada until today 13:00",
        "• 4 free",
        "@gpu-admins",
        "[Approve] [Approve]",
    ]
    assert "until today 7:00 AM" in town.slack.render_text(card, town.bob.id)
    assert "until today 12:00 PM" in town.slack.render_text(card)


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (
            {"type": "section", "text": {"type": "mrkdwn", "text": "*bold* <https://x.example|link> &lt;b&gt;"}},
            "bold link <b>",
        ),
        ({"type": "section", "text": {"type": "plain_text", "text": "<@U1> *as is*"}}, "<@U1> *as is*"),
        ({"type": "context", "elements": [{"type": "mrkdwn", "text": "_Needs_: `vision`"}]}, "Needs: vision"),
        ({"type": "divider"}, "---"),
        ({"type": "image", "image_url": "u", "alt_text": "a chart"}, "[image: a chart]"),
        (
            rich({"type": "link", "url": "https://x.example"}, {"type": "broadcast", "range": "here"}),
            "https://x.example@here",
        ),
        (rich({"type": "emoji", "name": "hourglass", "unicode": "23f3"}, {"type": "emoji", "name": "own"}), "⏳:own:"),
        (
            {
                "type": "card",
                "title": {"type": "plain_text", "text": "8 a100"},
                "body": {"type": "mrkdwn", "text": "for *vision*"},
                "actions": [{"type": "button", "text": {"type": "plain_text", "text": "Show"}}],
            },
            "8 a100\nfor vision\n[Show]",
        ),
        (
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "checkboxes",
                        "options": [OVER, {**OVER, "value": "2"}],
                        "initial_options": [OVER],
                    },
                    {"type": "static_select", "options": [OVER], "initial_option": OVER},
                ],
            },
            "[x] I approve [ ] I approve [I approve v]",
        ),
        (rich({"type": "text", "text": "a\nb"}, kind="rich_text_preformatted"), "a\nb"),
        (rich({"type": "text", "text": "quoted"}, kind="rich_text_quote"), "> quoted"),
        (
            {
                "type": "table",
                "rows": [
                    [{"type": "raw_text", "text": "team"}, {"type": "raw_text", "text": "GPU-h"}],
                    [{"type": "raw_text", "text": "vision"}, {"type": "raw_number", "value": 8}],
                ],
            },
            "team    GPU-h\nvision  8",
        ),
        (
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "static_select",
                        "action_id": "s",
                        "placeholder": {"type": "plain_text", "text": "Until"},
                        "options": [{"text": {"type": "plain_text", "text": "3 d"}, "value": "3"}],
                    },
                    {
                        "type": "overflow",
                        "action_id": "o",
                        "options": [{"text": {"type": "plain_text", "text": "End"}, "value": "end"}],
                    },
                ],
            },
            "[Until v] [… End]",
        ),
    ],
)
def test_blocks_in_words(town, block: Block, words: str) -> None:
    assert town.slack.render_text(said(town, block)) == words


def test_text_mentions_and_dates_in_words(town) -> None:
    town.client.chat_postMessage(
        channel=town.ada.id,
        text=f"<@{town.bob.id}> in <#{town.room.id}>: <!date^{EARLY}^{{date_num}} {{time}}|2026-12-02> <!here>"
        " <!subteam^S404|@admins>",
        attachments=[{"pretext": "also", "text": "*more*"}],
    )
    read = town.slack.render_text(town.slack.dms(town.ada.id)[0])
    assert read == "@bob in #gpu: 2026-12-02 13:00 @here @admins\nalso\nmore"


def test_a_form_in_words(town) -> None:
    with town.slack.world.changed:
        trigger_id = town.slack.world.triggers.issue(town.ada.id)
    label = {"type": "plain_text", "text": "How many"}
    amount = {"type": "number_input", "action_id": "n", "is_decimal_allowed": False, "initial_value": "8"}
    view = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Request"},
        "submit": {"type": "plain_text", "text": "Request"},
        "close": {"type": "plain_text", "text": "Close"},
        "blocks": [{"type": "input", "label": label, "element": amount}],
    }
    town.client.views_open(trigger_id=trigger_id, view=view)
    shown = town.slack.open_view(town.ada.id)
    assert town.slack.render_text(shown) == "Request\nHow many  [8]\n[Close] [Request]"


@pytest.mark.parametrize(
    ("form", "timestamp", "words"),
    [
        ("{date_num}", EARLY, "2026-12-02"),
        ("{date}", EARLY, "December 2nd, 2026"),
        ("{date_short}", EARLY, "Dec 2, 2026"),
        ("{date_long}", EARLY, "Wednesday, December 2nd, 2026"),
        ("{date_pretty}", EARLY - 86400, "yesterday"),
        ("{date_long_pretty}", EARLY + 86400, "tomorrow"),
        ("{date_short_pretty}", EARLY + 3 * 86400, "Dec 5, 2026"),
        ("{date}", EARLY + 9 * 86400, "December 11th, 2026"),
        ("{date}", EARLY + 21 * 86400, "December 23rd, 2026"),
        ("{time_secs}", EARLY + 61, "13:01:01"),
        ("{ago}", EARLY - 7200, "2 hours ago"),
        ("{ago}", EARLY + 60, "in 1 minute"),
        ("{unknown}", EARLY, "{unknown}"),
    ],
)
def test_date_tokens(town, form: str, timestamp: int, words: str) -> None:
    assert tell(timestamp, form, Eye(town.clock.now(), "Europe/Berlin", "de-DE")) == words


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="*_~`")))
def test_escaped_text_reads_as_it_was_written(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words = Words(Eye(datetime(2026, 12, 2, tzinfo=UTC)), {}, {}, {})
    assert mrkdwn(escaped, words) == text


def pings(town, user: str) -> list[str]:
    return [n.why for n in town.slack.notifications(user)]


@pytest.mark.parametrize(
    ("block", "ada", "bob"),
    [
        (rich({"type": "user", "user_id": "ADA"}), ["mention"], []),
        (rich({"type": "usergroup", "usergroup_id": "GROUP"}), [], ["group"]),
        (rich({"type": "broadcast", "range": "channel"}), ["broadcast"], ["broadcast"]),
        ({"type": "section", "text": {"type": "mrkdwn", "text": "<@ADA> <!subteam^GROUP>"}}, ["mention"], ["group"]),
        ({"type": "section", "text": {"type": "mrkdwn", "text": "<!here>"}}, ["broadcast"], ["broadcast"]),
        ({"type": "section", "text": {"type": "plain_text", "text": "<@ADA> <!channel>"}}, [], []),
        (rich({"type": "text", "text": "<@ADA> <!channel>"}), [], []),
        ({"type": "section", "text": {"type": "mrkdwn", "text": "&lt;!channel&gt;"}}, [], []),
    ],
)
def test_who_is_pinged(town, block: Block, ada: list[str], bob: list[str]) -> None:
    group = town.slack.add_group("gpu-admins", town.bob.id, town.guest.id)
    filled = json.loads(json.dumps(block).replace("ADA", town.ada.id).replace("GROUP", group.id))
    message = said(town, filled, text=f"<@{town.ada.id}>")
    assert (pings(town, town.ada.id), pings(town, town.bob.id)) == (ada, bob)
    assert pings(town, town.guest.id) == []
    town.client.chat_update(channel=message.channel, ts=message.ts, text="x", blocks=[filled])
    assert (pings(town, town.ada.id), pings(town, town.bob.id)) == (ada, bob)


def test_a_direct_message_pings_its_reader(town) -> None:
    town.client.chat_postMessage(channel=town.ada.id, text="hello")
    assert pings(town, town.ada.id) == ["dm"]


def test_ephemerals_are_gone_after_a_reload(town) -> None:
    town.client.chat_postEphemeral(channel=town.room.id, user=town.ada.id, text="x")
    town.slack.reload(town.ada.id)
    assert town.slack.ephemerals(town.ada.id) == ()
