"""A typed line as tokens with positions, forgiving what phones and habits make of it.

Curly and angled quotes, no-break spaces, long dashes before a keyword, `--for=3d` and `for:3d` all read alike. Every
position is an index into the text as given, so that a fault can point at what the person typed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.wording.faults import flat
from bot.core.wording.text import DASHES

MOST_TOKENS = 100
"""No line has as many; whatever follows is one last token that nothing understands."""
REASON = "because"

_QUOTES = ('"“”„‟＂', "'‘’‚‛", "«»", "‹›", "`")
_ALL_QUOTES = "".join(_QUOTES)
_CLOSING = {mark: re.compile(rf"[{marks}](?= |$)") for marks in _QUOTES for mark in marks}
_WORD = re.compile("[^ ]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word without its quotes, standing at `start` to `end`; `keyword` is its canonical form if it is one.

    Behind the keyword "because" the whole reason is one token, verbatim but for the quotes around it.
    """

    text: str
    start: int
    end: int
    keyword: str | None = None


def keyword_pattern(keywords: Mapping[str, str]) -> re.Pattern[str]:
    """Matches any of `keywords` (spelling -> canonical), bare, as a flag, or with `:` or `=`, up to where it ends."""
    spellings = "|".join(re.escape(word).replace(r"\ ", " +") for word in sorted(keywords, key=len, reverse=True))
    return re.compile(rf"(?P<dashes>[{DASHES}]{{0,2}})(?P<word>{spellings})(?:[:=]|(?= |$))", re.IGNORECASE | re.ASCII)


def tokenize(text: str, start: int = 0, keywords: Mapping[str, str] | None = None) -> tuple[Token, ...]:
    """The tokens of `text` from `start` on; words in quotes are never keywords."""
    plain = flat(text)
    pattern = keyword_pattern(keywords) if keywords else None
    tokens: list[Token] = []
    at = start
    while (word := _WORD.search(plain, at)) and len(tokens) < MOST_TOKENS:
        at = word.start()
        if keywords and pattern and (found := pattern.match(plain, at)):
            keyword = keywords[" ".join(found["word"].lower().split())]
            tokens.append(Token(text[at : found.end()], at, found.end(), keyword))
            at = found.end()
            if keyword == REASON:
                reason, at = _reason(text, plain, at, as_flag=bool(found["dashes"]))
                tokens += reason
        else:
            words, at = _quoted_words(plain, word) or _plain_word(word)
            tokens += words
    if word:
        tokens.append(Token(text[word.start() :], word.start(), len(text)))
    return tuple(tokens)


def _plain_word(word: re.Match[str]) -> tuple[list[Token], int]:
    """A word without stray quotes, and without the comma of a sentence."""
    text = word.group().strip(_ALL_QUOTES).rstrip(",;") or word.group()
    start = word.start() + word.group().index(text)
    return [Token(text, start, start + len(text))], word.end()


def _quoted_words(plain: str, word: re.Match[str]) -> tuple[list[Token], int] | None:
    """The words between an opening quote and the closing one of its kind; None if there is no such pair."""
    closing = _close(plain, word.start())
    if closing is None:
        return None
    inner = _WORD.finditer(plain, word.start() + 1, closing)
    return [Token(one.group(), one.start(), one.end()) for one in inner], closing + 1


def _close(plain: str, opening: int) -> int | None:
    pattern = _CLOSING.get(plain[opening])
    found = pattern.search(plain, opening + 1) if pattern else None
    return found.start() if found else None


def _reason(text: str, plain: str, at: int, *, as_flag: bool) -> tuple[list[Token], int]:
    """The reason from `at` on: all to the end of the line, or, behind a flag, no more than what is quoted."""
    first = _WORD.search(plain, at)
    if not first:
        return [], len(text)
    start, end, resume = first.start(), len(plain.rstrip(" ")), len(text)
    closing = _close(plain, start)
    if closing is not None and (as_flag or closing == end - 1):
        start, end, resume = start + 1, closing, closing + 1
    return ([Token(text[start:end].strip(), start, end)] if plain[start:end].strip(" ") else []), resume
