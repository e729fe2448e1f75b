"""Messages and views as the words a person reads on a phone: names for ids, times in their zone, [buttons].

Used by `looking` and by the scripted demo. Pure: names and the reader come in with `Words`.
"""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.demo.slack.dates import Eye, tell
from bot.demo.slack.entities import Json, Message, View

_ENTITY = re.compile(r"<([^<>]+)>")
_DATE = re.compile(r"!date\^(-?\d+)\^(.*?)(?:\^[^|]*)?(?:\|(.*))?", re.DOTALL)
_MARKS = tuple(re.compile(rf"(?<!\w){mark}(?=\S)([^{mark}\n]+?)(?<=\S){mark}(?!\w)") for mark in (r"\*", "_", "~", "`"))


@dataclass(frozen=True, slots=True)
class Words:
    """Everything that turns ids into words: `people`, `channels` and `groups` map ids to names."""

    eye: Eye
    people: Mapping[str, str]
    channels: Mapping[str, str]
    groups: Mapping[str, str]


def render_message(message: Message, words: Words) -> str:
    """The message as read: blocks if it has any, else its text, then attachments and files."""
    lines = _blocks(message.blocks, words) if message.blocks else [mrkdwn(message.text, words)]
    for attachment in message.attachments:
        lines += _blocks(attachment.get("blocks", ()), words)
        lines += [mrkdwn(attachment[part], words) for part in ("pretext", "title", "text") if attachment.get(part)]
    lines += [f"[file {file.title}]" for file in message.files]
    return "\n".join(line for line in lines if line != "")


def render_view(view: View, words: Words) -> str:
    """A modal or App Home as read: title, blocks, and the buttons at its foot."""
    body = view.body
    lines = [body["title"]["text"]] if view.kind == "modal" else []
    lines += _blocks(view.blocks, words)
    foot = [f"[{body[part]['text']}]" for part in ("close", "submit") if body.get(part)]
    return "\n".join([*lines, " ".join(foot)] if foot else lines)


def mrkdwn(text: str, words: Words) -> str:
    """Marked-up text without its marks: mentions and dates in words, links by their label, entities unescaped."""
    text = _ENTITY.sub(lambda match: _entity(match[1], words), text)
    for mark in _MARKS:
        text = mark.sub(r"\1", text)
    return html.unescape(text)


def _entity(inner: str, words: Words) -> str:
    date = _DATE.fullmatch(inner)
    if date:
        return tell(int(date[1]), date[2], words.eye)
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return "@" + words.people.get(target[1:], label or target[1:])
    if target.startswith("#"):
        return "#" + words.channels.get(target[1:], label or target[1:])
    if target.startswith("!subteam^"):
        return "@" + words.groups.get(target.removeprefix("!subteam^"), label.lstrip("@"))
    if target.startswith("!"):
        return "@" + target[1:]
    return label or target.removeprefix("mailto:")


def _text(node: Json, words: Words) -> str:
    return mrkdwn(node["text"], words) if node["type"] == "mrkdwn" else str(node["text"])


def _blocks(blocks: Iterable[Json], words: Words) -> list[str]:
    return [line for block in blocks for line in _BLOCKS.get(block["type"], _unknown)(block, words)]


def _unknown(block: Json, _words: Words) -> list[str]:
    return [f"[{block['type']}]"]


def _section(block: Json, words: Words) -> list[str]:
    lines = [_text(block["text"], words)] if "text" in block else []
    lines += [_text(field, words) for field in block.get("fields", ())]
    return lines + ([element(block["accessory"])] if "accessory" in block else [])


def _context(block: Json, words: Words) -> list[str]:
    return [" ".join(element(e) if e["type"] == "image" else _text(e, words) for e in block["elements"])]


def _input(block: Json, _words: Words) -> list[str]:
    lines = [f"{block['label']['text']}  {element(block['element'])}"]
    return lines + ([f"  {block['hint']['text']}"] if "hint" in block else [])


def _card(block: Json, words: Words) -> list[str]:
    lines = [_text(block[part], words) for part in ("title", "subtitle", "body", "subtext") if part in block]
    return [*lines, " ".join(element(each) for each in block.get("actions", ()))]


def _table(block: Json, words: Words) -> list[str]:
    rows = [[_cell(cell, words) for cell in row] for row in block["rows"]]
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
    return [block["caption"], *lines] if "caption" in block else lines


def _cell(cell: Json, words: Words) -> str:
    if cell["type"] == "rich_text":
        return " ".join(_rich_text(cell, words))
    return str(cell.get("text", cell.get("value", "")))


def element(node: Json) -> str:
    """A control as it looks: `[Approve]`, `[3 days v]`, `[x] I agree`."""
    match node["type"]:
        case "button":
            return f"[{node['text']['text']}]"
        case "image":
            return f"[image: {node['alt_text']}]"
        case "overflow":
            return "[… " + " | ".join(option["text"]["text"] for option in node["options"]) + "]"
        case "checkboxes" | "radio_buttons":
            chosen = [*node.get("initial_options", []), node.get("initial_option")]
            return " ".join(f"[{'x' if o in chosen else ' '}] {o['text']['text']}" for o in node["options"])
    return f"[{_standing(node)}]"


def _standing(node: Json) -> str:
    """What an input or select shows before anybody touches it."""
    if node.get("initial_option"):
        return f"{node['initial_option']['text']['text']} v"
    for name, value in node.items():
        if name.startswith("initial_") and not isinstance(value, dict | list):
            return str(value)
    placeholder = node.get("placeholder", {}).get("text", "")
    return f"{placeholder} v".strip() if node["type"].endswith("select") else placeholder or " "


def _rich_text(block: Json, words: Words) -> list[str]:
    return [line for part in block["elements"] for line in _part(part, words)]


def _part(part: Json, words: Words) -> list[str]:
    match part["type"]:
        case "rich_text_list":
            return [_item(part, index, item, words) for index, item in enumerate(part["elements"])]
        case "rich_text_quote":
            return [f"> {line}" for line in _inline(part["elements"], words).split("\n")]
    return _inline(part["elements"], words).split("\n")


def _item(part: Json, index: int, item: Json, words: Words) -> str:
    mark = f"{index + 1 + part.get('offset', 0)}." if part["style"] == "ordered" else "•"
    return f"{'  ' * part.get('indent', 0)}{mark} {_inline(item['elements'], words)}"


def _inline(elements: Iterable[Json], words: Words) -> str:
    return "".join(_piece(piece, words) for piece in elements)


def _piece(piece: Json, words: Words) -> str:
    match piece["type"]:
        case "text":
            return str(piece["text"])
        case "link":
            return str(piece.get("text") or piece["url"])
        case "user":
            return "@" + words.people.get(piece["user_id"], piece["user_id"])
        case "usergroup":
            return "@" + words.groups.get(piece["usergroup_id"], piece["usergroup_id"])
        case "channel":
            return "#" + words.channels.get(piece["channel_id"], piece["channel_id"])
        case "date":
            return tell(piece["timestamp"], piece["format"], words.eye)
        case "broadcast":
            return f"@{piece['range']}"
        case "emoji":
            return str(_unicode(piece) or f":{piece['name']}:")
    return ""


def _unicode(piece: Json) -> str:
    return "".join(chr(int(code, 16)) for code in piece.get("unicode", "").split("-") if code)


_BLOCKS: Mapping[str, Callable[[Json, Words], list[str]]] = {
    "actions": lambda block, _: [" ".join(element(each) for each in block["elements"])],
    "alert": lambda block, words: [_text(block["text"], words)],
    "card": _card,
    "context": _context,
    "data_table": _table,
    "data_visualization": lambda block, _: [f"[chart: {block['title']}]"],
    "divider": lambda _block, _words: ["---"],
    "header": lambda block, _: [str(block["text"]["text"])],
    "image": lambda block, _: [element(block)],
    "input": _input,
    "markdown": lambda block, _: [str(block["text"])],
    "rich_text": _rich_text,
    "section": _section,
    "table": _table,
}
