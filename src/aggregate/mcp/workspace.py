"""What a connection was shown already, so that nothing has to be sent and paid for twice."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.errors import ToolError
from aggregate.base.values import Task
from aggregate.mcp.pages import CAP
from aggregate.project.configuration import Project, unconfigured
from aggregate.project.index import Index, user_index
from aggregate.prompt import (
    Composition,
    OpenFiles,
    ReadFiles,
    Request,
    SavedCounts,
    open_project,
    request_for,
)

_MOST_CHARACTERS: Final = 8_000_000
"""Of texts that are kept to make diffs from; beyond, the files that were shown longest ago are sent whole again."""


@dataclass(slots=True)
class _ShownFile:
    """A file as it was shown: the hash of its bytes, which lines, in which call; its text where all of it was."""

    content_hash: str
    calls: dict[int, int] = field(default_factory=dict)
    text: str = ""


class Ledger:
    """The lines of files that were shown over one connection, each with the number of the call."""

    def __init__(self) -> None:
        self._files: dict[str, _ShownFile] = {}
        self._views: dict[tuple[str, str], tuple[str, int]] = {}

    def record(self, path: str, content_hash: str, lines: Iterable[int], *, call: int) -> None:
        """Note that lines of a file were shown as they are."""
        file = self._files.pop(path, None)
        if file is None or file.content_hash != content_hash:
            file = _ShownFile(content_hash)
        self._files[path] = file  # as the newest
        for line in lines:
            file.calls.setdefault(line, call)

    def record_text(self, path: str, content_hash: str, text: str, *, call: int) -> None:
        """Note that all of a file was shown, so that a diff can lead from it to what it becomes."""
        self.record(path, content_hash, range(1, text.count("\n") + 2), call=call)
        self._files[path].text = text
        kept = sum(len(file.text) for file in self._files.values())
        for file in self._files.values():
            if kept <= _MOST_CHARACTERS:
                break
            kept -= len(file.text)
            file.text = ""

    def forget(self, call: int) -> None:
        """Know nothing of what a call has shown first: its answer was not received."""
        for file in self._files.values():
            if call in file.calls.values():
                file.calls = {line: first for line, first in file.calls.items() if first != call}
                file.text = ""
        self._views = {view: shown for view, shown in self._views.items() if shown[1] != call}

    def call_of(self, path: str, content_hash: str, lines: Iterable[int]) -> int:
        """Return the last call that showed some of these lines, if all were shown as they are; ``0`` if not."""
        file = self._files.get(path)
        if file is None or file.content_hash != content_hash:
            return 0
        last = 0
        for line in lines:
            call = file.calls.get(line, 0)
            if not call:
                return 0
            last = max(last, call)
        return last

    def earlier_text(self, path: str, content_hash: str) -> str:
        """Return the text of a file that was shown whole and has changed since, ``""`` for none."""
        file = self._files.get(path)
        return file.text if file is not None and file.content_hash != content_hash else ""

    def record_view(self, path: str, view: str, digest: str, *, call: int) -> None:
        """Note that a view of a file was shown; ``digest`` tells its text."""
        self._views[path, view] = digest, call

    def call_of_view(self, path: str, view: str, digest: str) -> int:
        """Return the call that showed this view of a file as it is, ``0`` for none."""
        known, call = self._views.get((path, view), ("", 0))
        return call if known == digest else 0


_PREFIX, _DIGITS = "p-", 8
_HANDLE: Final = re.compile(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}")
_MOST_PROMPTS: Final = 32
"""Composed prompts that are kept to be read in parts."""


def is_handle(text: str) -> bool:
    """Tell whether a text is the handle of a prompt, and no file's path."""
    return _HANDLE.fullmatch(text) is not None


class KeptPrompt(NamedTuple):
    """A prompt that was composed, and of what."""

    handle: str
    request: Request
    composition: Composition
    markdown: str


class ShownPrompt(NamedTuple):
    """A prompt that a reader was shown: in which call, and what was said to be doubtful about it."""

    call: int
    notes: frozenset[str]


@dataclass(slots=True)
class Call:
    """A call while it is answered: its number, once it has one, and whether its reader has gone."""

    number: int = 0
    is_cancelled: bool = False


@dataclass(slots=True)
class Connection:
    """What one reader was told.

    Attributes:
        calls: How many tools it has called.
        last_prompt: The handle of the prompt that it composed last.
        prompts: Which call composed each prompt first, by its handle.
    """

    ledger: Ledger = field(default_factory=Ledger)
    calls: int = 0
    last_prompt: str = ""
    prompts: dict[str, ShownPrompt] = field(default_factory=dict)
    cancelled: list[Call] = field(default_factory=list)

    def forget(self) -> None:
        """Know nothing of what was shown: from now on paths are those of another project."""
        self.ledger = Ledger()
        self.last_prompt = ""
        self.prompts = {}

    def forget_cancelled(self) -> None:
        """Know nothing of what answers have shown that nobody got."""
        while self.cancelled:
            number = self.cancelled.pop().number
            self.ledger.forget(number)
            self.prompts = {
                handle: shown for handle, shown in self.prompts.items() if shown.call != number
            }


class Workspace:
    """One project; each request sees its configuration and files as they are then.

    Args:
        config: Its configuration; where there is none, the project is all files of that folder.
        cap: The most tokens of an answer.
        index: What is known of files; by default the user's.
    """

    def __init__(self, config: Path, *, cap: int = CAP, index: Index | None = None) -> None:
        self.config = config
        self.cap = cap
        self.index = index or user_index()
        self.count = SavedCounts(self.index)
        self.files = OpenFiles()
        self._prompts: OrderedDict[str, KeptPrompt] = OrderedDict()

    def at(self, config: Path) -> "Workspace":
        """Return another project, with the same index and answers of the same length."""
        return Workspace(config, cap=self.cap, index=self.index)

    def read_files(self, request: Request, progress: "Progress") -> ReadFiles:
        """Read the files of a request, as far as they are not known; ``progress`` is told how many are."""
        done = total = 0

        def start(number: int) -> None:
            nonlocal total
            total = number
            progress(0, total)

        def advance(number: int) -> None:
            nonlocal done
            done += number
            progress(done, total)

        return self.files.read(request, index=self.index, on_start=start, on_done=advance)

    def project(self) -> Project:
        """Return the project as it is now."""
        return open_project(
            self.config if self.config.exists() else unconfigured(self.config),
            allow_outside=False,
            allow_secrets=False,
        )

    def request(
        self, *, preset: str | None = None, task: Task | None = None, budget: int | None = None
    ) -> Request:
        """Return what the project's configuration asks for, secrets replaced.

        Nothing beyond the project's root is read, whether the user trusts it or not: it is not the user who asks.
        """
        project = self.project()
        request = request_for(
            project,
            preset=preset,
            with_history=False,
            task=task or Task(),
            budget=budget,
            sending=True,
        )
        if task is None:
            request = replace(request, task=None)
        # What allows more is the user's to say.
        return replace(request, scope=replace(request.scope, is_fixed=True))

    def keep(self, request: Request, composition: Composition) -> KeptPrompt:
        """Keep a prompt, to be read in parts; the handle follows from its text."""
        markdown = composition.prompt.markdown
        digest = sha256(markdown.encode("utf-8", "surrogatepass")).hexdigest()
        kept = KeptPrompt(f"{_PREFIX}{digest[:_DIGITS]}", request, composition, markdown)
        self._prompts[kept.handle] = kept
        self._prompts.move_to_end(kept.handle)
        while len(self._prompts) > _MOST_PROMPTS:
            self._prompts.popitem(last=False)
        return kept

    def prompt(self, handle: str) -> KeptPrompt:
        """Return a prompt that was composed before."""
        if handle not in self._prompts:
            raise ToolError(f"there is no prompt {handle[:40]!r} (any more): compose it again")
        return self._prompts[handle]


Progress = Callable[[int, int], None]
"""Told how many files of how many are known; raises where the caller has gone."""


def silent(_done: int, _all: int) -> None:
    """Tell nobody."""
