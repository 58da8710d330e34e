"""The values of the page's edits, checked: a page may be of another version, and others may ask like one."""

from collections.abc import Sequence
from typing import Final

from aggregate.base.errors import ToolError
from aggregate.panel.protocol import EditData

_MOST_TEXT: Final = 200_000
"""Characters of a task: a log that somebody pastes has that many at most."""


def text_of(edit: EditData, key: str) -> str:
    """Return a text of an edit."""
    value = edit.get(key)
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise ToolError(f'the edit "{edit.get("op")}" needs a text as "{key}"')
    if not _is_unicode(value):
        raise ToolError(f'the edit "{edit.get("op")}": "{key}" is no Unicode text')
    return value


def texts_of(edit: EditData, key: str) -> list[str]:
    """Return a list of texts of an edit."""
    values = edit.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ToolError(f'the edit "{edit.get("op")}" needs a list of texts as "{key}"')
    for value in values:
        if not _is_unicode(value):
            raise ToolError(
                f"{value[:200]!r} is no Unicode, which a configuration cannot hold: rename it, or name it by a glob"
            )
    return values


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def number_of(edit: EditData, key: str) -> int:
    """Return a number of an edit."""
    value = edit.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError(f'the edit "{edit.get("op")}" needs a number as "{key}"')
    return value


def check_known(value: str, known: Sequence[str], what: str) -> None:
    """Make sure that a word is one of those that there are."""
    if value not in known:
        raise ToolError(f"there is no {what} {value[:40]!r}: there are {', '.join(known)}")
