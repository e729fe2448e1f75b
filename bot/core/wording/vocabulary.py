"""The names a line may use, as far as the person who typed it may see them, and how a typed name is matched to one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.wording.faults import Misread, listed, shown
from bot.core.wording.near import near

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Known names of each sort. An empty tuple means "not known": then every well-formed name is taken as it is."""

    flavors: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


NO_NAMES = Vocabulary()


@dataclass(frozen=True, slots=True)
class Hardware:
    """What an amount counts: a flavor, or a resource such as `nvidia.com/mig-1g.5gb`."""

    flavor: str | None = None
    resource: str | None = None


def find_name(word: str, names: Sequence[str]) -> str | None:
    """The name as it is written in the cluster, whatever the case it was typed in."""
    return next((name for name in names if name.lower() == word.lower()), None)


def known_hardware(word: str, vocabulary: Vocabulary) -> Hardware | None:
    """The known flavor or resource that a word names: as it is, in the plural (`A100s`), or by its last part."""
    for typed in (word, word[:-1] if word.lower().endswith("s") else word):
        if flavor := find_name(typed, vocabulary.flavors):
            return Hardware(flavor=flavor)
        for resource in vocabulary.resources:
            if typed.lower() in (resource.lower(), resource.lower().rpartition("/")[2]):
                return Hardware(resource=resource)
    return None


def read_hardware(word: str, vocabulary: Vocabulary) -> Hardware | Misread:
    """A word that stands for a flavor or resource; near names are offered when it is none."""
    if known := known_hardware(word, vocabulary):
        return known
    like_a_resource = "/" in word or word.lower().startswith("mig-")
    if like_a_resource and not vocabulary.resources:
        return Hardware(resource=word.lower())
    if not like_a_resource and not vocabulary.flavors and _NAME.fullmatch(word.lower()):
        return Hardware(flavor=word.lower())
    names = (*vocabulary.flavors, *(resource.rpartition("/")[2] for resource in vocabulary.resources))
    return _unknown(f"No flavor {shown(word)}.", word, names, vocabulary.flavors or names)


def read_name(word: str, names: Sequence[str], sort: str) -> str | Misread:
    """The name of a queue, team, cluster or kind (`sort`), or what is near it.

    Queues and teams are never listed, and one that is hidden reads like one that does not exist.
    """
    if found := find_name(word, names):
        return found
    hidden = sort in ("queue", "team")
    if not names:
        return (
            word.lower() if _NAME.fullmatch(word.lower()) else Misread(f'"{shown(word)}" is not the name of a {sort}.')
        )
    sentence = f"No {sort} {shown(word)}{' that you can see' if hidden else ''}."
    return _unknown(sentence, word, names, () if hidden else names)


def _unknown(sentence: str, word: str, names: Sequence[str], all_of_them: Sequence[str]) -> Misread:
    if found := near(word, names):
        return Misread(f"{sentence} Near: {listed(found)}.", found)
    if all_of_them:
        return Misread(f"{sentence} There {'is' if len(all_of_them) == 1 else 'are'}: {listed(all_of_them)}.")
    return Misread(sentence)
