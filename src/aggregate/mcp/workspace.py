"""The project that a server answers for, as it is now, and what a connection knows of it."""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aggregate.base.errors import ToolError
from aggregate.base.values import Task
from aggregate.mcp.ledger import Ledger
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
        ledger: What it was shown.
        calls: How many tools it has called.
        last_prompt: The handle of the prompt that it composed last.
        prompts: Which call composed each prompt first, by its handle.
        cancelled: Calls whose answers nobody got.
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
