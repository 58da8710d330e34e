"""The state of a ``chat``: its model, attachments, discussion and costs."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import is_file, read_text
from aggregate.base.errors import ConfigError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import Place, Task
from aggregate.base.tokens import count
from aggregate.cli.arguments import from_here
from aggregate.cli.output import counted, rendered_answer, say, warn_all, write_piece
from aggregate.cli.send import (
    AskedTurn,
    check_message,
    compact,
    deliver,
    prepare,
    turn_notes,
    warn_of_end,
)
from aggregate.project.configuration import Project
from aggregate.project.files import FolderListing
from aggregate.project.history import DEFAULT, NO_DISCUSSION
from aggregate.project.paths import is_glob
from aggregate.prompt import find_screenshots, read_images
from aggregate.prompt.asking import ALL_FILES, Request, for_reader, scope_of
from aggregate.sending import Charge, Discussion, Exchange, select_model
from aggregate.sending.models import LARGEST_IMAGE, Usage

_MAX_COUNTED: Final = 300_000  # bytes of a file whose tokens are counted while the user types
_MAX_SUGGESTIONS: Final = 12  # files per word
_MENTION: Final = re.compile(r"(?<!\S)@(\S+)")


@dataclass(frozen=True, slots=True)
class Attached:
    """Attached images, attached files and excluded files of a session.

    All are paths and globs as in a configuration.
    """

    files: tuple[str, ...] = ()  # shown in full, also beyond a budget; globs as usual
    left_out: tuple[str, ...] = ()
    images: tuple[str, ...] = ()  # relative to the folder of screenshots, or absolute

    def with_files(self, project: Project, paths: Sequence[str]) -> "Attached":
        """Return these attachments and more files, globs or folders; raise ``ConfigError`` for unreadable ones."""
        new = tuple(_entry(project, path) for path in paths)
        left_out = tuple(path for path in self.left_out if path not in new)
        return replace(self, files=(*_but(self.files, new), *new), left_out=left_out)

    def without(self, project: Project, paths: Sequence[str]) -> "Attached":
        """Exclude paths from the attachments and from the prompts."""
        old = tuple(_entry(project, path) for path in paths if path not in self.images)
        left_out = (*_but(self.left_out, old), *old)
        return Attached(_but(self.files, old), left_out, _but(self.images, paths))

    def with_images(self, project: Project, paths: Sequence[str]) -> "Attached":
        """Return these attachments and more images; raise ``ConfigError`` for unusable ones."""
        folder = project.folder / project.config.screenshots.base_dir
        listing = FolderListing(scope_of(project))
        images = find_screenshots(folder, paths, shown_from=project.folder, listing=listing)
        for image in images:
            if image.refused:
                raise ConfigError(f"{image.path} may not be read: {image.refused}")
            if not image.exists:
                raise ConfigError(f"no such image: {image.path}")
        if problems := read_images(images, limit=LARGEST_IMAGE)[1]:
            raise ConfigError(problems[0])
        return replace(self, images=(*_but(self.images, paths), *paths))

    def of(self, request: Request) -> Request:
        """Return a request with the attached files and images, and without the excluded files."""
        remaining = (entry for entry in request.entries if entry.item.path not in self.left_out)
        added = (Entry(FileItem(path, force_full=not is_glob(path))) for path in self.files)
        task = request.task
        places = [Place(path) for path in self.files if not is_glob(path)]
        if request.budget is not None and places:
            task = replace(task or Task(), focus=(*(task or Task()).focus, *places))
        return replace(
            request,
            entries=(*remaining, *added),
            exclude=(*request.exclude, *(f"/{path}" for path in self.left_out)),
            screenshots=(*request.screenshots, *_but(self.images, request.screenshots)),
            task=task,
        )


def _but(paths: tuple[str, ...], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in others)


def _entry(project: Project, path: str) -> str:
    """Return the configuration's entry for a path.

    The entry of a folder is a glob, the entry of a file is its path.
    """
    base = project.folder / project.config.files.base_dir
    if (base / path).is_dir():
        path = f"{path.rstrip('/')}/{ALL_FILES}"
    resolved = FolderListing(scope_of(project)).resolve(base, path)
    if resolved.refused:
        raise ConfigError(f"{path} may not be read: {resolved.refused}")
    if not any(is_file(os.path.join(resolved.folder, name)) for name in resolved.names):
        raise ConfigError(f"no such file in the project: {path}")
    return path


@dataclass
class ChatSession:
    asked: AskedTurn
    renders: bool = False  # answers as Markdown
    attached: Attached = Attached()
    last: Exchange | None = None
    sent: Exchange | None = None  # the last answered one of the present model
    draft: str = ""  # of the next message
    discussion: str = DEFAULT
    provider: str = ""
    spent: Charge = field(default_factory=Charge)
    _who: str = ""
    _message: str = ""
    _is_answered: bool = False
    _reported: set[str] = field(default_factory=set)

    def project(self) -> Project:
        return self.asked.open()

    def point_at(self, **seeds: object) -> str:
        """Change settings; return the new model and persona."""
        asked = replace(self.asked, **seeds)  # type: ignore[arg-type]
        project = asked.open()
        client, selection = select_model(project, asked.selection)
        asked.seeds(project)
        discussion = selection.discussion or DEFAULT
        Discussion(project, selection.discussion).turns(is_new=True)
        if self.discussion != discussion:
            self._message, self._is_answered = "", False
        self.asked = asked
        self.provider = client.provider
        model = f"{client.provider} {client.model}".strip()
        who = f"{model}, persona {selection.persona}" if selection.persona else model
        if (who, discussion) != (self._who, self.discussion):
            self.sent = None
        self._who, self.discussion = who, discussion
        return who

    def select(self, **changes: object) -> str:
        return self.point_at(selection=replace(self.asked.selection, **changes))  # type: ignore[arg-type]

    def questions(self) -> list[str]:
        turns = Discussion(self.project(), self.discussion).turns(is_new=True)
        tables = (turn for turn in turns.all if isinstance(turn, dict))
        return [str(turn.get("content", "")) for turn in tables if turn.get("role") == "User"]

    def plan(self, message: str) -> Exchange:
        return self._prepared(message, require_key=False)

    def _prepared(self, message: str, **how: Any) -> Exchange:  # noqa: ANN401 - of ``prepare``
        turn = prepare(self.project(), self.asked, message, aside=self.attached.of, **how)
        self.last, self.discussion = turn, turn.request.discussion or DEFAULT
        return turn

    def ask(self, message: str, *, replaces: Sequence[Mapping[str, Any]] = ()) -> None:
        check_message(message)
        self._message, self._is_answered = message, bool(replaces)
        turn = self._prepared(message, replaces=replaces)
        self._say_news(for_reader(turn.warnings), turn_notes(turn))
        try:
            with rendered_answer() if self.renders else nullcontext(write_piece) as write:
                as_json = self.asked.as_json
                completed = deliver(turn, as_json=as_json, indent=None, write=write)
        except BaseException:
            if bill := turn.stopped_bill:
                self.spent = self.spent.with_one(bill)
            raise
        self._is_answered, self.sent = True, completed
        usage = completed.reply.usage
        self.spent = self.spent.with_one(completed.bill)
        self._say_news(completed.doubts)
        warn_of_end(completed)
        if not self.asked.quiet:
            in_all = f"; {self.spent.price} in all" if self.spent.requests > 1 else ""
            expected = turn.forecast.cache_read
            share = f" ({expected / usage.input:.0%} expected)" if usage.input else ""
            say(f"{_tokens(usage, share)}; {completed.bill.sentence}{in_all}")

    def undo(self) -> str:
        self._is_answered = False
        return Discussion(self.project(), self.discussion).take_back()

    def retry(self) -> None:
        """Ask the last question again and replace its answer."""
        if self._message and (not self._is_answered or self.discussion == NO_DISCUSSION):
            self.ask(self._message)
            return
        if not self._message and not self.questions():
            raise ConfigError("this discussion has no question yet")
        # Do not repeat a turn added meanwhile by another process.
        discussion = Discussion(self.project(), self.discussion)
        last = discussion.last_exchange(question=self._message or None)
        self.ask(str(last[0]["content"]), replaces=last)

    def compact(self) -> None:
        if turn := compact(self.project(), self.asked):
            self.spent = self.spent.with_one(turn.bill)

    def totals(self) -> str:
        spent = self.spent
        return f"{counted(spent.requests, 'answer')}: {_tokens(spent)}; {spent.price}"

    def standing(self) -> list[str]:
        """Return the parts of the toolbar: cost, attachments, model."""
        number = len(self.attached.files) + len(self.attached.images)
        parts = [f"{number} attached"] if number else []
        return [self.spent.price, *parts, self._who]

    def attach(self, change: Callable[..., Attached], paths: Sequence[str]) -> None:
        self.attached = change(self.attached, self.project(), paths)

    def add_mentioned(self, message: str) -> None:
        """Attach the files mentioned as ``@path`` in a message."""
        mentions = (match[1].rstrip(".,;:!?)") for match in _MENTION.finditer(message))
        paths = dict.fromkeys(map(self.from_here, mentions))
        new = [
            path
            for path in paths
            if path not in self.attached.files and self.path_of(path).is_file()
        ]
        if new:
            self.add(new)

    def add(self, paths: Sequence[str]) -> None:
        self.attach(Attached.with_files, paths)
        for path in paths:
            say(f"added {path} {in_tokens(tokens_of_file(self.path_of(path)))}".rstrip())

    def path_of(self, path: str = "") -> Path:
        project = self.project()
        return project.folder / project.config.files.base_dir / path

    def from_here(self, path: str) -> str:
        return from_here(path, self.path_of())

    def take_draft(self) -> str:
        draft, self.draft = self.draft, ""
        return draft

    def answer(self) -> str:
        """Return the last answer of the discussion."""
        if self.sent:
            return self.sent.reply.text
        return str(Discussion(self.project(), self.discussion).last_exchange()[1]["content"])

    def _say_news(self, warnings: Sequence[str], notes: Sequence[str] = ()) -> None:
        if self.asked.quiet:
            return
        new_warnings = [warning for warning in warnings if warning not in self._reported]
        warn_all(new_warnings, more="run --json")
        say(*(note for note in notes if note not in self._reported))
        self._reported.update(warnings, notes)


def in_tokens(tokens: int | None) -> str:
    return "" if tokens is None else f"({tokens:,} tokens)"


def _tokens(usage: Usage | Charge, expected: str = "") -> str:
    share = usage.cache_read / usage.input if usage.input else 0
    read = f"{share:.0%} of them from the cache{expected}"
    return f"{usage.input:,} tokens in, {read}; {usage.output:,} out"


def find_files(project: Project, word: str) -> list[tuple[str, int | None]]:
    """Return files whose paths contain ``word``, for completion.

    Each comes with its tokens. Files whose names begin with the word come first.
    """
    base, word = project.folder / project.config.files.base_dir, word.lower()
    names = FolderListing(scope_of(project)).resolve(base, ALL_FILES).names
    matches = [name for name in names if word in name.lower()]
    matches.sort(key=lambda name: (f"/{word}" not in f"/{name.lower()}", len(name), name))
    return [(name, tokens_of_file(base / name)) for name in matches[:_MAX_SUGGESTIONS]]


def tokens_of_file(file: Path) -> int | None:
    """Return the tokens (o200k) of a file.

    ``None`` if the file is long or not a text.
    """
    try:
        return _count_tokens(file, file.stat().st_mtime_ns)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1_000)
def _count_tokens(file: Path, _modified: int) -> int:
    return count(read_text(file, limit=_MAX_COUNTED))
