"""A project for agents, and ledgers of sent lines.

Ledgers prevent sending a line twice. An answer has a token limit: it has as many whole lines as fit, and says how to
continue. Descriptions of arguments are short, since they are part of each request.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.json_schema import GenerateJsonSchema

from aggregate.agents.tools import ReadableProject
from aggregate.base.errors import ToolError
from aggregate.base.task_budget import Finish, Task, parse_number
from aggregate.project.index import Index
from aggregate.prompt import Composition
from aggregate.prompt.asking import Request
from aggregate.prompt.corpus import FileCorpus, read_files

Count = Callable[[str], int]  # returns the tokens of a text

CAP = 8_000  # tokens of an answer: hosts cut longer ones, or write them to a file (Claude Code from 25,000 on)
LEAST_CAP = 500  # an answer's notes have some hundred tokens


def fitting(text: Sequence[str] | str, limit: int, count: Count) -> int:
    """Return how many lines or characters from the start fit into ``limit`` tokens."""
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


_MOST_PROMPTS: Final = 32  # stored to be read in parts
_PREFIX, _DIGITS = "p-", 8

Progress = Callable[[int, int], None]  # files done, of all; raises after a cancellation


def is_handle(text: str) -> bool:
    return re.fullmatch(rf"{_PREFIX}[0-9a-f]{{{_DIGITS}}}", text) is not None


class Ledger:
    """The lines sent over a connection, each with its call."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, dict[int, int]]] = {}  # digest, first call by line

    def _calls(self, name: str, text: str) -> dict[int, int]:
        """Return the calls that sent lines of the unchanged text."""
        digest, calls = self._texts.get(name, ("", {}))
        return calls if digest == _digest(text) else {}

    def record(self, name: str, text: str, lines: Iterable[int], *, call: int) -> None:
        self._texts[name] = _digest(text), dict.fromkeys(lines, call) | self._calls(name, text)

    def call_of(self, name: str, text: str, lines: Iterable[int]) -> int:
        """Return the last call that sent these lines of the unchanged text, or 0."""
        earlier = self._calls(name, text)
        calls = [earlier.get(line, 0) for line in lines]
        return max(calls, default=0) if all(calls) else 0


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class StoredPrompt(NamedTuple):
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
    calls: int = 0  # of tools
    last_prompt: str = ""  # handle
    prompts: dict[str, ShownPrompt] = field(default_factory=dict)  # by handle
    was_cancelled: bool = False  # the ledger has lines of an answer that was not received

    def forget_shown(self) -> None:
        self.ledger, self.prompts, self.was_cancelled = Ledger(), {}, False


class Workspace:
    """A project whose configuration and files are read again for each request."""

    def __init__(self, config: Path, *, cap: int = CAP, index: Index | None = None) -> None:
        self._project = ReadableProject(config, index)
        self.cap = cap
        self.index, self.count = self._project.index, self._project.count
        self._prompts: OrderedDict[str, StoredPrompt] = OrderedDict()
        self.composed: list[int] = []  # tokens of each prompt
        # Whole size of each file in a prompt in tokens, by path and content.
        self.shown: dict[tuple[str, str], int] = {}

    def capped(self, lines: Iterable[str], *, more: str, limit: int | None = None) -> str:
        """Return the first lines within ``limit`` tokens; a note has the number of others and ``more``."""
        text = "".join(f"{line}\n" for line in lines)
        most = self.cap if limit is None else limit
        if self.count(text) <= most:
            return text
        parts = text.splitlines(keepends=True)  # a given line may have line breaks
        number = fitting(parts, most - self.count(_rest(len(parts), more)), self.count)
        return "".join(parts[:number]) + _rest(len(parts) - number, more)

    def read_files(self, request: Request, progress: Progress) -> FileCorpus:
        done = total = 0

        def start(number: int) -> None:
            nonlocal total
            total = number
            progress(0, total)

        def advance(number: int) -> None:
            nonlocal done
            done += number
            progress(done, total)

        return read_files(request, index=self.index, on_start=start, on_done=advance)

    def request(self, task: Task | None = None, *, budget: int | None = None) -> Request:
        return self._project.request(task, budget=budget, finish=Finish())

    def sheet(self, task: Task, progress: Progress, *, most: int) -> str:
        request = self.request(task)
        return self._project.sheet(request, self.read_files(request, progress), most=most)

    def keep(self, request: Request, composition: Composition) -> StoredPrompt:
        markdown = composition.prompt.markdown
        handle = f"{_PREFIX}{_digest(markdown)[:_DIGITS]}"
        prompt = StoredPrompt(handle, request, composition, markdown)
        self._prompts[handle] = prompt
        self._prompts.move_to_end(handle)
        while len(self._prompts) > _MOST_PROMPTS:
            self._prompts.popitem(last=False)
        return prompt

    @property
    def summary(self) -> str:
        """Summary of the session's prompts, printed at its end."""
        if not self.composed:
            return ""
        prompts = f"composed prompts: {len(self.composed):,} with {sum(self.composed):,} tokens"
        files = f"their files: {len(self.shown):,} with about {sum(self.shown.values()):,} tokens"
        return f"{prompts}; {files} in full"

    def prompt(self, handle: str) -> StoredPrompt:
        if handle not in self._prompts:
            raise ToolError(f"unknown or dropped prompt {handle[:40]!r}: compose it again")
        return self._prompts[handle]


class Call(NamedTuple):
    """A call of a tool."""

    workspace: Workspace
    connection: Connection
    progress: Progress


_NamedPath = Annotated[str, Field(max_length=4096)]

_MOST_NAMES = 200  # each is searched for in all files, while other calls wait


class Arguments(BaseModel):
    """Arguments of a tool call; unknown ones are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _read_texts(cls, values: Any) -> Any:  # noqa: ANN401 - whatever a host sends
        """Convert lists and budgets sent by a host as texts."""
        if not isinstance(values, Mapping):
            return values
        read = dict(values)
        for name, value in values.items():
            field = cls.model_fields.get(name)
            if not isinstance(value, str) or field is None:
                continue
            if get_origin(field.annotation) is list:
                read[name] = _as_list(value)
            elif name == "budget":
                read[name] = parse_number(value)
        return read


def _as_list(text: str) -> list[Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [value]
    return [text] if text.strip() else []


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class ComposeArguments(Arguments):
    task: str = Field(description="Your next step; quote errors and tracebacks in full")
    budget: int | None = Field(None, ge=1, description="Token limit; default: one answer")
    focus: list[_NamedPath] = Field(
        default=[],
        max_length=_MOST_NAMES,
        description="PATH of relevant files; PATH:LINE[-LINE] is always included",
    )
    symbols: list[str] = Field(
        default=[], max_length=_MOST_NAMES, description="Definitions to start from"
    )
    since: str = Field(default="", description="Start from the changes since this git revision")


class ReadArguments(Arguments):
    path: _NamedPath = Field(description="File, or handle of a prompt")
    view: Literal["full", "skeleton", "outline", "summary"] = "full"
    lines: str = Field(default="", pattern=r"^(\d{1,9}(-\d{0,9})?)?$", description="A-B, 1-based")
    symbol: str = Field(default="", description="Only this definition, such as Class.method")
    again: bool = Field(default=False, description="Repeat lines from earlier answers")


class OutlineArguments(Arguments):
    path: _NamedPath = Field(default="", description="Folder or file; default: the whole project")


class FindArguments(Arguments):
    query: str = Field(
        default="",
        max_length=1000,
        description="Name of a definition, such as Class.method, or any text",
    )
    path: _NamedPath = Field(default="", description="Only below this folder, or in this file")
    task: str = Field(default="", description="Your next step, instead of query and path")


class ExplainArguments(Arguments):
    handle: str = Field(default="", description="Handle of a prompt; default: the last")
    path: _NamedPath = Field(
        default="", description="File to explain; default: all files of the prompt"
    )


class WorkerResult(Arguments):
    """The result of one sub-agent."""

    label: str = Field(default="", description="Name of the sub-agent")
    value: Any = None
    error: str = ""


class ResultsArguments(Arguments):
    outputs: list[WorkerResult] = Field(min_length=1)
    strategy: Literal["concat", "json", "merge", "first", "last"] = "concat"


def parse(model: type[ArgumentsT], values: Mapping[str, Any], *, tool: str) -> ArgumentsT:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise ToolError(f"{tool}: {name}: {first['msg']}") from None


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, _schema: object) -> bool:
        return False


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, without titles."""
    schema = model.model_json_schema(schema_generator=_Untitled)
    schema.pop("description", None)  # the tool has a better one
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return schema
