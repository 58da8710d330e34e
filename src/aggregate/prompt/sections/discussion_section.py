"""The prompt's section with the turns of the discussion.

It is safe against forged turns. The format is fixed (rule M-50): ``### Discussion Excerpt i``, then ``role: content``.
Content is fenced if a line looks like a turn's heading, a rule between turns or a role, or if it leaves a block open.
Other content keeps its bytes. A new turn changes the text of earlier turns only if it has a new role, and one of their
lines begins with that role.
"""

import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

from aggregate.base.text import as_seen, fence, heading_text, leaves_open, plain_headings
from aggregate.prompt.document import SEPARATOR, Cut, Section, Segment, Stability, opening_line
from aggregate.prompt.sections.fitted import Count, FittedSection, largest_size, tokens_of

# Roles in any discussion.
_USUAL = frozenset(
    {"user", "human", "ai", "assistant", "model", "bot", "system", "developer", "tool", "unknown"}
)
_USERS = frozenset({"user", "human"})
_ASSISTANTS = frozenset({"ai", "assistant", "model", "bot"})
_LETTER = re.compile(r"[^\W_]")
_LONGEST = 60  # characters of a role; longer beginnings of lines are sentences
# Leading blanks and marks of quotes, lists and emphasis are ignored.
_HEADING = re.compile(r"^[^\w\n]*discussion[ \t]+(?:excerpt|history)", re.IGNORECASE | re.MULTILINE)
_RULE = re.compile(r"^[ \t>]*-(?:[ \t]*-){2,}[ \t]*$", re.MULTILINE)
_LABEL = re.compile(rf"^[^\w\n]*(\w[^\n:]{{0,{_LONGEST}}}?)[^\w\n:]{{0,8}}:", re.MULTILINE)
_ROLE_AND_COLON = re.compile(rf"(\w[^\n:]{{0,{_LONGEST}}}): *")
# A turn with a role, as from ``turn_texts``.
_SPOKEN = re.compile(
    r"(?P<role>(?:(?!: )[^\n])*?):"
    r"(?:\n\n(?P<fence>`{3,})text\n(?P<fenced>.*)\n(?P=fence)\Z|(?: (?P<plain>.*))?\Z)",
    re.DOTALL,
)

# First characters of markdown blocks.
_MARKS = frozenset("#-+*>`~=|<[_")
_BETWEEN = f"---{SEPARATOR}"
_NAME = "Discussion Excerpt"
_EXCERPT = re.compile(rf"(?:{_BETWEEN})?### {_NAME} [0-9]+{SEPARATOR}")
_CUT = "the discussion's share of the budget is used up; the oldest turns are left out first"


class SpokenTurn(NamedTuple):
    words: str  # preceded by a role other than the user's and the model's
    is_assistant: bool


def build_discussion_section(history: Sequence[object]) -> str:
    """Render the turns without the heading of the section.

    See rules M-6 and M-50. ``history`` has texts and mappings with ``role`` and ``content``; anything else is shown as
    ``str``.
    """
    return SEPARATOR.join(segment.text for segment in discussion_segments(history)[1:])


def build_discussion_text(history: Sequence[object]) -> str:
    """Render the section of the discussion, ``""`` without turns (rules M-11, M-X4)."""
    return SEPARATOR.join(segment.text for segment in discussion_segments(history))


def discussion_segments(history: Sequence[object]) -> tuple[Segment, ...]:
    """Return the discussion's segments: a heading and the turns.

    Without turns there are none. The rule between two turns belongs to the later one, so that a segment does not depend
    on later turns.
    """
    parts = [("## Discussion History", "")] if history else []
    for number, text in enumerate(turn_texts(history), start=1):
        name, rule = f"{_NAME} {number}", _BETWEEN if number > 1 else ""
        parts.append((f"{rule}### {name}{SEPARATOR}{text}", name))
    return tuple(
        Segment(Section.HISTORY, text, Stability.VOLATILE, source) for text, source in parts
    )


def safe_discussion_segments(history: Sequence[object]) -> tuple[Segment, ...]:
    """Return the segments of the turns; headings that look like other sections are escaped."""
    return discussion_segments([*map(_with_plain_headings, history)])


def _with_plain_headings(entry: object) -> object:
    if not isinstance(entry, Mapping):
        return plain_headings(str(entry))
    content = entry.get("content")
    return entry if content is None else {**entry, "content": plain_headings(str(content))}


def fit_history(history: Sequence[object], limit: int, count: Count) -> FittedSection:
    """Return the section of the newest turns, with their numbers.

    It has at most ``limit`` tokens, not counting the last turn, which is always shown.
    """
    complete = safe_discussion_segments(history)
    needed = tokens_of(complete, count)
    sizes = [tokens_of([turn], count) for turn in complete[1:]]
    last = max(len(history) - 1, 0)

    def newest(size: int) -> tuple[Segment, ...]:
        number = last - size
        if not number:
            return complete
        turns = "1 earlier turn is" if number == 1 else f"{number:,} earlier turns are"
        note = f"- {turns} left out: {sum(sizes[:number]):,} tokens"
        heading, first = complete[0], complete[number + 1]
        first = replace(first, text=first.text.removeprefix(_BETWEEN))
        return (heading, replace(heading, text=note), first, *complete[number + 2 :])

    number = last - largest_size(newest, last, limit, count)
    segments = newest(last - number)
    turns = f"turns 1 to {number}" if number > 1 else "turn 1"
    cuts = (Cut("history", turns, sum(sizes[:number]), _CUT),) if number else ()
    return FittedSection(segments, tokens_of(segments, count), needed, cuts)


def excerpt_turn(segment: Segment) -> SpokenTurn | None:
    """Return the turn of a discussion's segment, ``None`` for another segment."""
    if segment.section is not Section.HISTORY:
        return None
    heading = _EXCERPT.match(segment.text)
    return spoken_turn(segment.text[heading.end() :]) if heading else None


def turn_texts(history: Sequence[object]) -> list[str]:
    """Return the turns of a history (texts, or mappings with ``role`` and ``content``) as texts."""
    roles = _USUAL | {_name(_role_of(entry)) for entry in history if isinstance(entry, Mapping)}
    return [_turn(entry, roles) for entry in history]


def spoken_turn(text: str) -> SpokenTurn:
    """Parse a turn's text from ``turn_texts`` into role and words.

    A text with another role, without a role or without words is the user's, unchanged.
    """
    match = _SPOKEN.fullmatch(text)
    role = _name(match["role"]) if match else ""
    if match is None or role not in _USERS | _ASSISTANTS:
        return SpokenTurn(text, is_assistant=False)
    words = match["plain"] if match["fence"] is None else match["fenced"]
    has_words = bool((words or "").strip())
    return SpokenTurn(words if has_words else text, has_words and role in _ASSISTANTS)


def _turn(entry: object, roles: AbstractSet[str]) -> str:
    if isinstance(entry, Mapping):
        name, content = _role_of(entry), entry.get("content")
        text = "" if content is None else str(content).strip()
        if _misleads(text, roles, behind=True):  # the first line stands behind the role
            return f"{name}:\n\n{fence(text, 'text')}"
        return f"{name}: {text}"
    text = str(entry).strip()
    if not (_misleads(text, roles) or opening_line(text)):
        return text
    label = _ROLE_AND_COLON.match(text)
    if label and _name(label[1]) in roles:
        return f"{label[1]}:\n\n{fence(text[label.end() :], 'text')}"
    return fence(text, "text")


def _role_of(turn: Mapping[Any, Any]) -> str:
    role = turn.get("role")
    return _safe_role("Unknown" if role is None else str(role))


def _misleads(text: str, roles: AbstractSet[str], *, behind: bool = False) -> bool:
    """Return whether a line looks like a turn of these roles, or would hide the next turn."""
    text = f"x{text}" if behind else text
    lines = as_seen(text)
    if leaves_open(text) or _RULE.search(lines) or _HEADING.search(lines):
        return True
    labels = _LABEL.finditer(lines)
    first = None if behind else 0  # a text may begin with its own role
    return any(_name(label[1]) in roles for label in labels if label.start() != first)


def _name(role: str) -> str:
    text = as_seen(role)
    first, last = _LETTER.search(text), _LETTER.search(text[::-1])
    return text[first.start() : len(text) - last.start()].casefold() if first and last else ""


def _safe_role(role: str) -> str:
    r"""Return a role on one line; colons and a leading Markdown character are escaped as ``\xNN``."""
    text = re.sub(r"\\(?=[xu])", r"\\x5c", role)
    text = heading_text(text).replace(": ", "\\x3a ")
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] in _MARKS:
        text = f"{text[:start]}\\x{ord(text[start]):02x}{text[start + 1 :]}"
    return text
