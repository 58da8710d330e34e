"""A task's text, read: its terms, the scopes and identifiers that it names, and the places in files."""

import re
from typing import Final

from aggregate.ranking.message_text import (
    change_words,
    own_words,
    without_quotes,
    without_repetition,
    without_wording,
)
from aggregate.ranking.named_identifiers import joined_neighbours, named_identifiers
from aggregate.ranking.named_places import named_places
from aggregate.ranking.question import TaskText
from aggregate.ranking.terms import term_list, terms_in

# Of a text, half from its beginning and half from its end; what stands between is the middle of a log.
_MOST_CHARACTERS: Final = 400_000
# Characters in which names and places are looked for, in the same way: far more than any person writes.
_MOST_LOOKED_AT: Final = 40_000
_LONGEST_SUBJECT: Final = 300
_MOST_SCOPES: Final = 3

_BLANK_LINES: Final = re.compile(r"\n(?:[ \t]*+\n)++")
_BRACKETS: Final = re.compile(r"\s*+\[(?P<scope>[^\[\]]{1,60})\]\s*+:?")
_CONVENTIONAL: Final = re.compile(r"\s*+(?P<type>[A-Za-z]{2,12})\((?P<scope>[^()]{1,60})\)!?:\s")
# The same at the beginning of the text, where its type looks like a function that is called.
_TYPE: Final = re.compile(rf"\A{_CONVENTIONAL.pattern}")
_PREFIX: Final = re.compile(
    r"\s*+(?P<scope>[\w./,*{}@+-]{1,40}+(?: [\w./,*{}@+-]{1,40}+){0,2}?)!?:\s"
)
# Words before a colon that say what kind of change or message it is, not where; ``docs`` and ``tests`` say where.
_NO_SCOPES: Final = frozenset({
    "aw", "breaking", "bug", "bugfix", "build", "chore", "crash", "enhancement", "error", "fatal", "feat", "feature",
    "fix", "fixes", "fwd", "hotfix", "idea", "improvement", "issue", "note", "panic", "perf", "problem", "proposal",
    "question", "re", "refactor", "regression", "request", "revert", "rfc", "style", "task", "todo", "urgent",
    "warning", "wip",
})  # fmt: skip
_FAILURE: Final = re.compile(r"(?:[\w.$]*(?:Error|Exception|Warning|Fault)|Traceback\b.*)$")
_LETTER: Final = re.compile(r"[^\W_]")
_TRACEBACK: Final = re.compile(r"\s*+(?:Traceback \(most recent|goroutine \d|Exception in thread)")


def read_task(text: str) -> TaskText:
    """Return what ``text`` tells of what it is about; an empty text tells nothing. The time is linear in its length."""
    shortened = _ends(text.replace("\r\n", "\n").replace("\r", "\n"), _MOST_CHARACTERS)
    shortened = _BLANK_LINES.sub("\n\n", shortened)
    words = without_repetition(own_words(shortened))
    subject = _subject(words)
    words = without_wording(words)
    looked_at = _ends(words, _MOST_LOOKED_AT)
    scopes: list[str] = []
    rest = subject
    for _ in range(_MOST_SCOPES):
        match = _BRACKETS.match(rest) or _CONVENTIONAL.match(rest) or _PREFIX.match(rest)
        if match is None or _FAILURE.match(match["scope"]):
            break
        if match["scope"].lower() not in _NO_SCOPES:
            scopes += term_list(match["scope"])
        rest = rest[match.end() :]
    return TaskText(
        terms=dict(terms_in(words)),
        subject=tuple(dict.fromkeys(term_list(subject))),
        scopes=tuple(dict.fromkeys(scopes)),
        names=named_identifiers(_TYPE.sub(r"\g<scope>: ", looked_at)),
        places=named_places(without_quotes(_ends(shortened, _MOST_LOOKED_AT))),
        text=text,
        joined=joined_neighbours(words),
        change_words=tuple(sorted(change_words(subject))),
    )


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]}\n{text[-most // 2 :]}"


def _subject(words: str) -> str:
    # Where that only opens a traceback, the line that says what went wrong.
    lines = iter(words.split("\n"))
    first = next((line for line in lines if _LETTER.search(line)), "")
    if _TRACEBACK.match(first):
        first = next(
            (line for line in lines if line[:1].strip() and not _TRACEBACK.match(line)), first
        )
    return first.strip()[:_LONGEST_SUBJECT]
