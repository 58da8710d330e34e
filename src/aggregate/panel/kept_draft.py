"""Edits that nobody has saved, kept in the user's own state folder: they outlive the server."""

import json
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

from aggregate.base.disk import read_own_text, replace_own, state_folder
from aggregate.base.errors import AggregateError, OutputError
from aggregate.base.text import printable
from aggregate.panel.draft import Draft
from aggregate.panel.merging import changed_keys
from aggregate.project.configuration import MOST_BYTES

_FILE: Final = "panel_draft.json"
_MOST_KEPT: Final = 12 * MOST_BYTES
"""Characters of the file: two configurations, of which JSON may make six of one, and what belongs to none."""
_NAMED: Final = 5
"""Keys that a sentence names."""
_MOST_KEY: Final = 60
"""Characters of each of them: a configuration may hold any."""


class UnsavedDraft(NamedTuple):
    """A draft that was not saved.

    Attributes:
        base: The configuration that it was made of, ``None`` where there was no file.
    """

    base: str | None
    draft: Draft


class KeptDraft:
    """The draft that was not saved when a project's panel ended last, and where the one of now is kept.

    Attributes:
        last: The draft of the last time, until it is taken or forgotten.
        sentence: What it has changed, ``""`` where there is none.
    """

    def __init__(self, config: Path) -> None:
        self._file = state_folder(config.parent) / _FILE
        self._written: UnsavedDraft | None = None
        self.last = _read(self._file, config.name)
        self.sentence = _sentence(self.last, config) if self.last else ""
        if not self.sentence:
            self.last = None

    def keep(self, config: Path, unsaved: UnsavedDraft | None) -> None:
        """Keep the draft of now for the next start, in place of what was kept before.

        Nothing is changed where there are no edits and none were kept since the start, so that those of the last time
        are offered again. Where it cannot be written, edits are lost with the server.

        Args:
            config: The configuration's path.
            unsaved: The draft, ``None`` where it has no edits.
        """
        if unsaved == self._written and (unsaved is None or self._file.exists()):
            return  # another panel of this project keeps its own in the same place
        self._written = unsaved
        try:
            if unsaved is None:
                self._file.unlink(missing_ok=True)
            else:
                replace_own(self._file, _text(config.name, unsaved))
        except (OSError, OutputError):
            return

    def taken(self) -> None:
        """Note that the draft of the last time is that of now."""
        self._written, self.last, self.sentence = self.last, None, ""

    def forget(self) -> None:
        """Forget the draft of the last time."""
        self.last, self.sentence = None, ""
        if self._written is None:
            with suppress(OSError):  # it is offered again at the next start
                self._file.unlink(missing_ok=True)


def _text(name: str, unsaved: UnsavedDraft) -> str:
    draft = {**asdict(unsaved.draft), "turns_out": sorted(unsaved.draft.turns_out)}
    return json.dumps({"config": name, "base": unsaved.base, "draft": draft})


def _read(file: Path, name: str) -> UnsavedDraft | None:
    try:
        kept = json.loads(read_own_text(file, limit=_MOST_KEPT))
        base = kept["base"]
        if kept["config"] != name or not (base is None or isinstance(base, str)):
            return None
        unsaved = UnsavedDraft(base, _draft(kept["draft"]))
        is_usable = all(
            len(text.encode()) <= MOST_BYTES for text in (base or "", unsaved.draft.text)
        )
        return unsaved if is_usable else None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _draft(kept: Any) -> Draft:  # noqa: ANN401 - whatever stands in the file
    if not isinstance(kept, dict):
        raise TypeError("draft")
    values: dict[str, Any] = {}
    for field in fields(Draft):
        value = kept.get(field.name, field.default)
        if field.name == "turns_out":
            value = frozenset(int(number) for number in value)
        elif isinstance(value, list):
            value = tuple(str(text) for text in value)
        if type(value) is not type(field.default if field.name != "text" else ""):
            raise TypeError(field.name)
        values[field.name] = value
    return Draft(**values)


def _sentence(unsaved: UnsavedDraft, config: Path) -> str:
    try:
        keys = changed_keys(unsaved.base or "", unsaved.draft.text, path=config)
        unsaved.draft.project(config)
    except AggregateError:
        return ""
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    names = ", ".join(printable(key[:_MOST_KEY]) for key in keys[:_NAMED]) or "its comments"
    return f"edits that were not saved when the panel ended: {names}{more}"
