"""The section of the discussion: turns as text in which no content can pass for another turn.

The ordinary form is fixed (rule M-50): ``### Discussion Excerpt i``, then ``role: content``. Content that holds a line
that could be taken for a heading of a turn, for the rule between two, or for the beginning of what somebody says, is
fenced, and so is content that leaves a block open, which would take in the turns behind it; the role stays outside. All
else keeps its bytes. Roles of the whole discussion count, also those that speak later only; so a further turn changes
what was sent before only if it has a new role that an earlier content begins a line with.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from typing import Any, NamedTuple

from aggregate.base.text import as_seen, fence, heading_text, leaves_open, plain_headings
from aggregate.prompt.document import SEPARATOR, Section, Segment, Stability

# Roles that are known without a turn of theirs.
_USUAL = frozenset(
    {"user", "human", "ai", "assistant", "model", "bot", "system", "developer", "tool", "unknown"}
)

_USERS = frozenset({"user", "human"})

_ASSISTANTS = frozenset({"ai", "assistant", "model", "bot"})

_LETTER = re.compile(r"[^\W_]")

# Longer beginnings of lines are no roles: they are sentences.
_LONGEST = 60

# A line that begins with blanks and marks, such as those of quotes, lists and emphasis, still looks like what follows.
_HEADING = re.compile(r"^[^\w\n]*discussion[ \t]+(?:excerpt|history)", re.IGNORECASE | re.MULTILINE)

_RULE = re.compile(r"^[ \t>]*-(?:[ \t]*-){2,}[ \t]*$", re.MULTILINE)

_LABEL = re.compile(rf"^[^\w\n]*(\w[^\n:]{{0,{_LONGEST}}}?)[^\w\n:]{{0,8}}:", re.MULTILINE)

_ROLE_AND_COLON = re.compile(rf"(\w[^\n:]{{0,{_LONGEST}}}): *")

# A text that begins like a turn that is fenced; no role holds a colon and a blank.
_FENCED = re.compile(r"(?:(?:(?!: )[^\n])*:\n\n)?`{3,}text(?:\n|\Z)")

# A turn's text as ``turn_texts`` writes it, with a role.
_SPOKEN = re.compile(
    r"(?P<role>(?:(?!: )[^\n])*?):"
    r"(?:\n\n(?P<fence>`{3,})text\n(?P<fenced>.*)\n(?P=fence)\Z|(?: (?P<plain>.*))?\Z)",
    re.DOTALL,
)

# What begins a heading, a list, a quote, a rule, a fence, a table, HTML or a definition in markdown.
_MARKS = frozenset("#-+*>`~=|<[_")
_BETWEEN = f"---{SEPARATOR}"
_NAME = "Discussion Excerpt"
_EXCERPT = re.compile(rf"(?:{_BETWEEN})?### {_NAME} [0-9]+{SEPARATOR}")


class SpokenTurn(NamedTuple):
    words: str  # with a role before them that is neither the user's nor the model's
    is_assistant: bool  # the model has said it


class Omitted(NamedTuple):
    """The first of some turns or results, which a budget leaves out: how many, and the tokens they have (rule B-5)."""

    number: int
    tokens: int

    def sentence(self, what: str) -> str:
        number = f"1 {what} is" if self.number == 1 else f"{self.number:,} {what}s are"
        return f"- {number} left out: {self.tokens:,} tokens"


def build_discussion_section(history: Sequence[object]) -> str:
    """Render the excerpts without the section's heading (rules M-6, M-50).

    Args:
        history: Texts and mappings with ``role`` and ``content``, mixed at will; anything else is shown as ``str``.

    Returns:
        ``### Discussion Excerpt i`` and the text for each, with a rule between two; ``""`` for no history.
    """
    return SEPARATOR.join(segment.text for segment in discussion_segments(history)[1:])


def build_discussion_text(history: Sequence[object]) -> str:
    """Render the whole section with its heading, or ``""`` for no history (rules M-11, M-X4)."""
    return SEPARATOR.join(segment.text for segment in discussion_segments(history))


def discussion_segments(
    history: Sequence[object], omitted: Omitted | None = None
) -> tuple[Segment, ...]:
    """Return the section as a heading and one segment for each excerpt, none for no history.

    The rule between two excerpts begins the later one: the text of an excerpt is the same whatever follows it. Behind
    turns that are ``omitted``, the others keep their numbers.
    """
    return tuple(
        Segment(Section.HISTORY, text, Stability.VOLATILE, source)
        for text, source in _parts(history, omitted)
    )


def safe_discussion_segments(
    history: Sequence[object], omitted: Omitted | None = None
) -> tuple[Segment, ...]:
    """Return the section as ``discussion_segments`` does, with nothing in it that looks like another section."""
    return discussion_segments([*map(_with_plain_headings, history)], omitted)


def _with_plain_headings(entry: object) -> object:
    if not isinstance(entry, Mapping):
        return plain_headings(str(entry))
    content = entry.get("content")
    return entry if content is None else {**entry, "content": plain_headings(str(content))}


def _parts(history: Sequence[object], omitted: Omitted | None) -> Iterator[tuple[str, str]]:
    if history:
        yield "## Discussion History", ""
    if history and omitted:
        yield omitted.sentence("earlier turn"), ""
    first = omitted.number + 1 if omitted else 1
    for number, text in enumerate(turn_texts(history), first):
        rule = _BETWEEN if number > first else ""
        yield f"{rule}### {_NAME} {number}{SEPARATOR}{text}", f"{_NAME} {number}"


def excerpt_turn(segment: Segment) -> SpokenTurn | None:
    """Return what was said in an excerpt of the discussion, and by whom; ``None`` for any other segment."""
    if segment.section is not Section.HISTORY:
        return None
    heading = _EXCERPT.match(segment.text)
    return spoken_turn(segment.text[heading.end() :]) if heading else None


def turn_texts(history: Sequence[object]) -> list[str]:
    """Return the text of each turn, a text or a mapping with ``role`` and ``content``; all else is shown as ``str``."""
    roles = _USUAL | {_name(_role_of(entry)) for entry in history if isinstance(entry, Mapping)}
    return [_turn(entry, roles) for entry in history]


def spoken_turn(text: str) -> SpokenTurn:
    """Return who has said a turn, and the plain words, from its text as ``turn_texts`` writes it.

    A text with another role, with none, or with no words at all is what the user shows the model, as it stands.
    """
    match = _SPOKEN.fullmatch(text)
    role = _name(match["role"]) if match else ""
    if match is None or role not in _USERS | _ASSISTANTS:
        return SpokenTurn(text, is_assistant=False)
    words = match["plain"] if match["fence"] is None else match["fenced"]
    has_words = bool((words or "").strip())
    return SpokenTurn(words if has_words else text, has_words and role in _ASSISTANTS)


def fenced_lines(text: str) -> int:
    """Return in which line of a turn's text the fence begins that is around what was said, ``0`` for none."""
    opening = _FENCED.match(text)
    return opening[0].removesuffix("\n").count("\n") + 1 if opening else 0


def _turn(entry: object, roles: AbstractSet[str]) -> str:
    if isinstance(entry, Mapping):
        name, content = _role_of(entry), entry.get("content")
        text = "" if content is None else str(content).strip()
        if _misleads(text, roles, behind=True):  # the first line stands behind the role
            return f"{name}:\n\n{fence(text, 'text')}"
        return f"{name}: {text}"
    text = str(entry).strip()
    if not (_misleads(text, roles) or _FENCED.match(text)):
        return text
    label = _ROLE_AND_COLON.match(text)
    if label and _name(label[1]) in roles:
        return f"{label[1]}:\n\n{fence(text[label.end() :], 'text')}"
    return fence(text, "text")


def _role_of(turn: Mapping[Any, Any]) -> str:
    role = turn.get("role")
    return _safe_role("Unknown" if role is None else str(role))


def _misleads(text: str, roles: AbstractSet[str], *, behind: bool = False) -> bool:
    """Tell whether a line could pass for the beginning of a turn of these roles, or hide that of the next one.

    With ``behind`` the first line stands behind something and so begins no line.
    """
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
    r"""Return a role that is one line, ends at its colon, and begins no heading, rule or fence.

    What would is written as ``\xNN``, and so is a backslash that would read like one of these.
    """
    text = re.sub(r"\\(?=[xu])", r"\\x5c", role)
    text = heading_text(text).replace(": ", "\\x3a ")
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] in _MARKS:
        text = f"{text[:start]}\\x{ord(text[start]):02x}{text[start + 1 :]}"
    return text
