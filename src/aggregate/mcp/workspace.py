"""One project as agents ask about it, and what each was told, so that nothing is sent and paid for twice.

An answer has at most a cap of tokens: as many whole lines as fit, and how to go on. Every word that describes an
argument is paid for with each request, so there are few.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aggregate.base.errors import ToolError
from aggregate.base.request import Finish, Task
from aggregate.mcp import CAP
from aggregate.project.configuration import Project, unconfigured
from aggregate.project.index import Index, user_index
from aggregate.prompt import Composition, Request, SavedCounts, open_project, request_for
from aggregate.prompt.ranked_files import OpenFiles, ReadFiles

Count = Callable[[str], int]  # returns the tokens of a text


def fitting(text: Sequence[str] | str, limit: int, count: Count) -> int:
    """Return how many of the first lines, or of a line's first characters, have at most ``limit`` tokens together."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(text[:middle])) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def _rest(number: int, more: str) -> str:
    return f"[{number:,} more {'line' if number == 1 else 'lines'}: {more}]\n"


_MOST_PROMPTS: Final = 32  # composed prompts that are kept to be read in parts
_PREFIX, _DIGITS = "p-", 8

Progress = Callable[[int, int], None]  # files known, of all; raises where the caller has gone


def is_handle(text: str) -> bool:
    return re.fullmatch(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}", text) is not None


@dataclass(slots=True)
class _Shown:
    digest: str
    calls: dict[int, int] = field(default_factory=dict)  # the first that showed a line, by line


class Ledger:
    """The lines of texts, each by its name, that were shown over one connection, with the number of the call."""

    def __init__(self) -> None:
        self._shown: dict[str, _Shown] = {}

    def record(self, name: str, text: str, lines: Iterable[int], *, call: int) -> None:
        """Note that lines of a text were shown."""
        shown = self._shown.get(name)
        if shown is None or shown.digest != _digest(text):
            shown = self._shown[name] = _Shown(_digest(text))
        for line in lines:
            shown.calls.setdefault(line, call)

    def call_of(self, name: str, text: str, lines: Iterable[int]) -> int:
        """Return the last call that showed some of these lines, if all were shown as they are; ``0`` if not."""
        shown = self._shown.get(name)
        if shown is None or shown.digest != _digest(text):
            return 0
        calls = [shown.calls.get(line, 0) for line in lines]
        return max(calls, default=0) if all(calls) else 0


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class KeptPrompt(NamedTuple):
    handle: str
    request: Request
    composition: Composition
    markdown: str


class ShownPrompt(NamedTuple):
    call: int
    notes: frozenset[str]


@dataclass(slots=True)
class Connection:
    ledger: Ledger = field(default_factory=Ledger)
    calls: int = 0  # of tools, so far
    last_prompt: str = ""  # the handle of what it composed last
    prompts: dict[str, ShownPrompt] = field(default_factory=dict)  # by handle
    was_cancelled: bool = False  # an answer that was not received counts as shown

    def forget_shown(self) -> None:
        self.ledger, self.prompts, self.was_cancelled = Ledger(), {}, False


class Workspace:
    """Each request sees the configuration and files as they are then; no answer has more than ``cap`` tokens."""

    def __init__(self, config: Path, *, cap: int = CAP, index: Index | None = None) -> None:
        self._config = config
        self.cap = cap
        self.index = index or user_index()
        self.count = SavedCounts(self.index)
        self._files = OpenFiles()
        self._prompts: OrderedDict[str, KeptPrompt] = OrderedDict()
        self.composed: list[int] = []  # tokens of each prompt
        # Tokens of the files that they show parts of, as a whole, by path and content.
        self.shown: dict[tuple[str, str], int] = {}

    def capped(self, lines: Iterable[str], *, more: str, limit: int | None = None) -> str:
        """Return lines, or as many of the first as fit, with how many are left out and what to do for ``more``."""
        text = "".join(f"{line}\n" for line in lines)
        most = self.cap if limit is None else limit
        if self.count(text) <= most:
            return text
        parts = text.splitlines(keepends=True)  # a line that was given may be many
        number = fitting(parts, most - self.count(_rest(len(parts), more)), self.count)
        return "".join(parts[:number]) + _rest(len(parts) - number, more)

    def read_files(self, request: Request, progress: Progress) -> ReadFiles:
        done = total = 0

        def start(number: int) -> None:
            nonlocal total
            total = number
            progress(0, total)

        def advance(number: int) -> None:
            nonlocal done
            done += number
            progress(done, total)

        return self._files.read(request, index=self.index, on_start=start, on_done=advance)

    def project(self) -> Project:
        config = self._config if self._config.exists() else unconfigured(self._config)
        return open_project(config, allow_outside=False, allow_secrets=False)

    def request(self, *, task: Task | None = None, budget: int | None = None) -> Request:
        """Nothing beyond the project's root is read, whether the user trusts it or not: it is not the user who asks."""
        request = request_for(
            self.project(),
            with_history=False,
            task=task or Task(),
            budget=budget,
            sending=True,
            finish=Finish(),
        )
        # What allows more is the user's to say.
        scope = replace(request.scope, is_fixed=True)
        return replace(request, scope=scope, task=request.task if task else None)

    def keep(self, request: Request, composition: Composition) -> KeptPrompt:
        markdown = composition.prompt.markdown
        handle = f"{_PREFIX}{_digest(markdown)[:_DIGITS]}"
        kept = KeptPrompt(handle, request, composition, markdown)
        self._prompts[handle] = kept
        self._prompts.move_to_end(handle)
        while len(self._prompts) > _MOST_PROMPTS:
            self._prompts.popitem(last=False)
        return kept

    @property
    def summary(self) -> str:
        """What is told of a session at its end; what an agent would have read instead nobody knows."""
        prompts = (
            f"composed prompts: {len(self.composed):,} of {sum(self.composed):,} tokens together"
        )
        files = f"files that they show: {len(self.shown):,} of about {sum(self.shown.values()):,}"
        return f"{prompts}; {files}, of which an agent may need less" if self.composed else ""

    def prompt(self, handle: str) -> KeptPrompt:
        if handle not in self._prompts:
            raise ToolError(f"there is no prompt {handle[:40]!r} (any more): compose it again")
        return self._prompts[handle]


_NamedPath = Annotated[str, Field(max_length=4096)]

_MOST_NAMES = 200  # each is looked for in all files, while others wait


class Arguments(BaseModel):
    """The arguments of one call; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class ComposeArguments(Arguments):
    task: str = Field(description="What you are about to do; quote errors and tracebacks whole")
    budget: int | None = Field(
        None, ge=1, description="Most tokens; default: what one answer holds"
    )
    focus: list[_NamedPath] = Field(
        default=[],
        max_length=_MOST_NAMES,
        description="PATH of files that matter; PATH:LINE[-LINE] is shown in any case",
    )
    symbols: list[str] = Field(
        default=[], max_length=_MOST_NAMES, description="Definitions to start from"
    )
    since: str = Field(default="", description="git revision whose changes since to start from")


class ReadArguments(Arguments):
    path: _NamedPath = Field(description="File, or handle of a prompt")
    view: Literal["full", "skeleton", "outline", "summary"] = "full"
    lines: str = Field(default="", pattern=r"^(\d{1,9}(-\d{0,9})?)?$", description="A-B, 1-based")
    symbol: str = Field(default="", description="Only this definition, such as Class.method")
    again: bool = Field(default=False, description="Repeat what you were shown before")


class OutlineArguments(Arguments):
    path: _NamedPath = Field(default="", description="Folder or file; default: the whole project")


class FindArguments(Arguments):
    query: str = Field(
        default="",
        max_length=1000,
        description="Name of a definition, such as Class.method, or any text",
    )
    path: _NamedPath = Field(default="", description="Only below this folder, or in this file")
    task: str = Field(default="", description="Instead of query and path: what you are about to do")


class ExplainArguments(Arguments):
    handle: str = Field(default="", description="Of a prompt; default: the last")
    path: _NamedPath = Field(default="", description="File; default: all that the prompt shows")


class WorkerResult(Arguments):
    """What one sub-agent returned."""

    label: str = Field(default="", description="Who")
    value: Any = None
    error: str = ""


class ResultsArguments(Arguments):
    outputs: list[WorkerResult] = Field(min_length=1)
    strategy: Literal["concat", "json", "merge", "first", "last"] = "concat"


def parse(model: type[ArgumentsT], given: Mapping[str, Any], *, tool: str) -> ArgumentsT:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise ToolError(f"{tool}: {name}: {first['msg']}") from None


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, without the titles that repeat the names."""
    schema: dict[str, Any] = _without_titles(model.model_json_schema())
    schema.pop("description", None)  # the tool's own says more
    return schema


def _without_titles(node: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_titles(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
