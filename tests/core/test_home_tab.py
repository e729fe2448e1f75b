"""When a Home tab is looked at, and what counts as the same."""

from datetime import timedelta

import pytest

from bot.core.home_tab import BETWEEN, WATCHED_FOR, HomeTab, asked_as, digest, is_watched, worth_showing
from bot.core.membership import Groups, Unknown
from bot.core.messages import Home
from tests.support.quota import NOW, documents, person, policy

HOME = Home(({"type": "divider"},), NOW)
TICK = timedelta(microseconds=1)


@pytest.mark.parametrize(("ago", "watched"), [(TICK, True), (WATCHED_FOR - TICK, True), (WATCHED_FOR, False)])
def test_it_is_watched_for_an_hour(ago: timedelta, watched: bool) -> None:
    assert is_watched(HomeTab("U1", NOW - ago), NOW) is watched


def test_what_reads_the_same_has_the_same_digest_whenever_it_was_read() -> None:
    assert digest(HOME) == digest(Home(HOME.blocks, NOW + BETWEEN))
    assert digest(HOME) != digest(Home((), NOW))


@pytest.mark.parametrize(
    ("tab", "worth"),
    [
        (HomeTab("U1", NOW), True),
        (HomeTab("U1", NOW, "another", NOW), True),
        (HomeTab("U1", NOW, digest(HOME), NOW - BETWEEN), True),
        (HomeTab("U1", NOW, digest(HOME), NOW - BETWEEN + TICK), False),
    ],
    ids=["never shown", "changed", "shown a while before", "the same a moment before"],
)
def test_going_to_and_fro_shows_the_same_once(tab: HomeTab, worth: bool) -> None:
    assert worth_showing(tab, HOME, NOW) is worth


@pytest.mark.parametrize(
    ("user", "groups", "names"),
    [
        ("U0LEADNLP", {"S0CALL": frozenset()}, {"leads:nlp"}),
        ("U0NLP", {"S0CALL": frozenset()}, set()),
        ("U0NLP", {"S0CALL": frozenset({"U0NLP"})}, {"group:on-call"}),
        ("U0NLP", {"S0CALL": Unknown("no answer")}, {"group:on-call"}),
        ("U0ADMIN", {}, {"group:gpu-admins", "group:on-call"}),
    ],
    ids=["a lead", "a member", "in a group", "in a group perhaps", "a group that was not looked up"],
)
def test_steps_ask_a_person_by_these_names(user: str, groups: Groups, names: set[str]) -> None:
    changed = documents()
    changed["approvals.yaml"]["groups"] = {"gpu-admins": ["U0ADMIN"], "on-call": ["S0CALL"]}
    assert asked_as(policy(changed), person(user), groups) == names
