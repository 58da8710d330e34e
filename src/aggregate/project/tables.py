"""Tables of ``manual_slop.toml``: their keys, checks and JSON Schema.

Tables are data classes, validated by pydantic. Loading pydantic and building a validator takes longer than writing a
small prompt, so code that only reads tables avoids it.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    dataclass_transform,
    get_args,
    get_origin,
)

from aggregate.base.files import FileItem, ViewMode
from aggregate.base.task_budget import MOST_TOKENS, Amount, parse_amount, parse_number
from aggregate.project.paths.globs_and_ignores import is_glob

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

ViewModeName = Literal["full", "summary", "skeleton", "outline", "masked", "custom", "none"]
GeneratedName = Literal["name", "outline", "full"]
MaskName = Literal["def", "sig", "hide"]
OrderName = Literal["auto", "configured", "relevance", "edges"]
BEADS_MODE = "beads"  # the ``execution_mode`` with a section of beads
# Bytes of a namespace: file systems allow 255, and numbers and suffixes are appended.
_NAME_BYTES = 200
_PATH_BYTES, _PART_BYTES = 4_000, 255  # limits of common file systems


class Check:
    """An annotation of pydantic, named by a string so that pydantic is loaded only for validation."""

    def __init__(self, name: str, /, *arguments: object, **options: object) -> None:
        self._name, self._arguments, self._options = name, arguments, options

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - any type
        handler: "GetCoreSchemaHandler",
    ) -> "CoreSchema":
        import pydantic

        annotation = getattr(pydantic, self._name)(*self._arguments, **self._options)
        return handler.generate_schema(Annotated[source, annotation])


def key(
    description: str,
    *,
    default: Any = MISSING,  # noqa: ANN401 - as of field
    default_factory: Any = MISSING,  # noqa: ANN401 - as of field
    **options: object,
) -> Any:  # noqa: ANN401 - as of field
    """Declare a key of a table with a description, a default, and ``options`` of pydantic's ``Field``."""
    return field(
        default=default,
        default_factory=default_factory,
        metadata={"description": description, **options},
    )


@dataclass_transform(
    eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(key,)
)
class Table:
    """A table of a configuration; with ``others`` it accepts unknown keys and keeps them."""

    __pydantic_config__: ClassVar[dict[str, str]]

    def __init_subclass__(cls, *, others: bool = False) -> None:
        cls.__pydantic_config__ = {"extra": "allow" if others else "forbid"}
        # Generating unused methods would double the time.
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)


def _path(text: str) -> str:
    # Other surrogates represent bytes of a name outside of UTF-8.
    if re.search("[\0\ud800-\udc7f\udd00-\udfff]", text):
        raise ValueError("must be a path, without null characters and unpaired surrogates")
    parts = [len(part.encode(errors="surrogateescape")) for part in re.split(r"[/\\]", text)]
    if sum(parts) > _PATH_BYTES or (max(parts) > _PART_BYTES and not is_glob(text)):
        raise ValueError(
            f"must be a path, with at most {_PATH_BYTES:,} bytes and {_PART_BYTES} between two slashes"
        )
    return text


PathText = Annotated[str, Check("AfterValidator", _path)]
# Only for the published schema; ``parse_number`` validates.
_Number = Annotated[int, Check("Field", ge=1, le=MOST_TOKENS)]
# A number of tokens, or a text such as ``"32k"``.
TokenNumber = Annotated[
    int, Check("BeforeValidator", parse_number, json_schema_input_type=_Number | str)
]
# A number of tokens, or ``"auto"``.
TokenAmount = Annotated[
    Amount, Check("BeforeValidator", parse_amount, json_schema_input_type=_Number | str)
]
_Dollars = Annotated[float, Check("Field", ge=0, allow_inf_nan=False)]


class SliceTable(Table, others=True):
    """Lines of a file to show; keys added by ``FuzzyAnchor.create_slice`` are kept."""

    start_line: int = key("First line, 1-based.")
    end_line: int = key("The last line of the slice, inclusive.")
    tag: str | None = key("A label shown above the slice.", default=None)
    comment: str | None = key("A remark shown above the slice.", default=None)


class FileTable(Table):
    """A file or glob of a prompt, and how its files are shown."""

    path: PathText = key("A path or glob, relative to base_dir or absolute.")
    view_mode: ViewModeName = key("The view of the file.", default="full")
    auto_aggregate: bool = key(
        "false keeps the file out of the prompt, but in the items.", default=True
    )
    force_full: bool = key(
        "Show the raw text; overrides the view mode and the strategy.", default=False
    )
    selected: bool = key("Whether the file is selected in a user interface.", default=False)
    ast_signatures: bool = key("Shortcut for the skeleton view.", default=False)
    ast_definitions: bool = key("Shortcut for the skeleton view.", default=False)
    ast_mask: dict[str, MaskName] = key(
        'For masked: a symbol such as "Class.method" to def, sig or hide.', default_factory=dict
    )
    custom_slices: list[SliceTable] = key(
        "With the view custom: the lines to show.", default_factory=list, fail_fast=True
    )
    injected_at: float | None = key("Unix time of the last injection.", default=None)
    tier: int | None = key("3 marks a focus file of a Tier 3 context.", default=None)

    def item(self) -> FileItem:
        values = as_data(self)
        del values["tier"]
        return FileItem(**values)


def _file_table(entry: object) -> object:
    """Convert a path or an item to the fields of a table."""
    if isinstance(entry, FileItem):
        return {**entry.to_dict(), "view_mode": ViewMode.parse(entry.view_mode).value}
    return {"path": entry} if isinstance(entry, str) else entry


# A table, or a path.
FileEntry = Annotated[
    FileTable, Check("BeforeValidator", _file_table, json_schema_input_type=str | FileTable)
]


class PresetTable(Table):
    """A set of files and screenshots that can replace the configured ones."""

    description: str = key("A description in one line, for lists of presets.", default="")
    files: list[FileEntry] = key(
        "Paths, globs, or tables with a path.", default_factory=list, fail_fast=True
    )
    screenshots: list[PathText] = key(
        "Paths or globs of images.", default_factory=list, fail_fast=True
    )
    budget: TokenAmount | None = key(
        'Token limit of a prompt with this preset, such as 32000, "32k" or "auto".', default=None
    )


class ProjectTable(Table):
    """The name of the project, and how its prompts show files."""

    name: str = key("The project's name; the folder's name by default.", default="")
    summary_only: bool = key("With the strategy auto: show summaries of files.", default=False)
    aggregation_strategy: str = key(
        "auto, summarize or full; anything else means auto.", default="auto"
    )
    execution_mode: str = key(
        '"beads" adds the progress track; anything else is native.', default="native"
    )
    active_preset: str = key(
        "The context preset that replaces the files and screenshots.", default=""
    )


def _file_name(name: str) -> str:
    if re.search(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]", name):
        raise ValueError("must be a plain file name without slashes and control characters")
    if len(name.encode()) > _NAME_BYTES:
        raise ValueError(f"must have at most {_NAME_BYTES} bytes, to be part of file names")
    return name


class OutputTable(Table):
    """Where prompts are written."""

    namespace: Annotated[str, Check("AfterValidator", _file_name)] = key(
        "First part of the file names; derived from the project's name by default.", default=""
    )
    output_dir: PathText = key("Folder of the numbered prompts.", default="md_gen")


class FilesTable(Table):
    """Which files prompts show."""

    base_dir: PathText = key("Base of relative paths, relative to this file.", default=".")
    paths: list[FileEntry] = key(
        "Paths, globs, or tables with a path.", default_factory=list, fail_fast=True
    )
    exclude: list[PathText] = key(
        "Patterns as in .gitignore; globs skip matching files.",
        default_factory=list,
        fail_fast=True,
    )
    generated: GeneratedName = key(
        "View of generated files matched by a glob: name for a list of names and sizes, outline, or full for "
        "the view of their entry. A file with its own entry keeps its view.",
        default="name",
    )


class ScreenshotsTable(Table):
    """Which images prompts show."""

    base_dir: PathText = key("Base of relative paths, relative to this file.", default=".")
    paths: list[PathText] = key("Paths or globs of images.", default_factory=list, fail_fast=True)


class TurnTable(Table):
    """One turn of a discussion: its role and content."""

    role: str = key("The speaker.", default="Unknown")
    content: str = key("The text.", default="")


# A turn as plain text, or with its role.
Turn = Annotated[
    Annotated[str, Check("Tag", "text")] | Annotated[TurnTable, Check("Tag", "turn")],
    Check("Discriminator", lambda turn: "text" if isinstance(turn, str) else "turn"),
]
# Parts of a pydantic error's location for a value with two forms.
UNION_TAGS = frozenset({"text", "turn"})


class DiscussionTable(Table):
    """The turns of the discussion."""

    history: list[Turn] = key("The turns, oldest first.", default_factory=list, fail_fast=True)


class PersonaTable(Table):
    """A model to send prompts to, with instructions and prompt settings."""

    provider: str = key(
        "anthropic, gemini, deepseek, minimax, openai, compatible or scripted.", default=""
    )
    model: str = key(
        "The provider's name of the model; the provider's default model by default.", default=""
    )
    base_url: str = key(
        "Address of the provider; in a project's own file for compatible only.", default=""
    )
    system_prompt: str = key("Instructions before everything else.", default="")
    aggregation_strategy: str = key(
        "auto, summarize or full; overrides the strategy of the project.", default=""
    )
    preset: str = key("The context preset with the files and screenshots.", default="")
    budget: TokenAmount | None = key(
        'Token limit of a prompt for this persona, such as 32000, "32k" or "auto".', default=None
    )


class TaskTable(Table):
    """The default task of prompts."""

    text: str = key(
        "The task in your words: files are ranked for it, and chosen with a budget.", default=""
    )
    pick: str = key(
        "In your own configuration: ask PROVIDER:MODEL to pick files once; auto asks yours if the ranking is unsure.",
        default="",
    )


class PromptTable(Table):
    """Texts in a prompt besides files, task and discussion."""

    frame: bool = key(
        "Begin a prompt for a task with a budget with the project's name, and end it with the task.",
        default=True,
    )
    instructions: str = key(
        "Instructions for each prompt, or a file with them; only in your own configuration.",
        default="",
    )


class BudgetTable(Table):
    """Token limit of a prompt, and the order of its files."""

    tokens: TokenAmount | None = key(
        'Token limit (o200k) of the whole markdown, such as 32000, "32k" or "auto"; no limit by '
        "default.",
        default=None,
    )
    most: TokenNumber = key(
        'With tokens = "auto": use at most this many tokens of the model\'s context window.',
        default=60_000,
    )
    history: float = key(
        "Largest share of the discussion, of the tokens left by pinned files.",
        default=0.2,
        ge=0,
        le=1,
    )
    results: float = key(
        "Guaranteed share of sub-agents' results, of the tokens left by pinned files.",
        default=0.2,
        ge=0,
        le=1,
    )
    order: OrderName = key(
        "The order of the files: configured, relevance, or edges (most relevant files last, the next ones first). "
        "auto is relevance for prompts of run without a discussion, else configured.",
        default="auto",
    )
    tier3: TokenAmount | None = key(
        "Token limit of a Tier 3 prompt, and so of each ticket's; by default that of tokens.",
        default=None,
    )


class TrustTable(Table):
    """Projects that may read files outside of them; only in the user's own configuration."""

    projects: list[str] = key("Absolute paths of the projects' roots.", default_factory=list)


class SendTable(Table):
    """Defaults for sending prompts to a model; options and personas take precedence."""

    provider: str = key(
        "anthropic, gemini, deepseek, minimax, openai, compatible or scripted.", default=""
    )
    model: str = key(
        "The provider's name of the model; the provider's default model by default.", default=""
    )
    persona: str = key("The default persona.", default="")
    base_url: str = key(
        "Address of the provider; in a project's own file for compatible on this machine only.",
        default="",
    )
    max_output: TokenNumber | None = key(
        "Token limit of an answer; 16,000 by default.", default=None
    )
    budget: TokenAmount | None = key(
        'Token limit of a whole request, such as 32000, "32k" or "auto".', default=None
    )
    effort: Literal["low", "medium", "high"] | None = key(
        "How long the model thinks before it answers; its own choice by default.", default=None
    )
    most_per_day: _Dollars | None = key(
        "Limit of the cost of all requests of a day in US dollars; a request that could exceed it is not sent.",
        default=None,
    )
    pick: bool | None = key(
        "With a budget: first let the model itself pick from the likeliest files.", default=None
    )


class ModelTable(Table):
    """Prices and limits of a model that the shipped tables lack or have wrong."""

    window: TokenNumber | None = key("Tokens of its context window.", default=None)
    input: _Dollars | None = key("US dollars for a million tokens of input.", default=None)
    output: _Dollars | None = key("US dollars for a million tokens of output.", default=None)
    cache_read: _Dollars | None = key(
        "US dollars for a million tokens read from the cache.", default=None
    )
    cache_write: _Dollars | None = key(
        "US dollars for a million tokens written to the cache.", default=None
    )
    minimum: TokenNumber | None = key(
        "Tokens of the shortest prefix that the cache stores.", default=None
    )
    lifetime: int | None = key(
        "Seconds until the cache drops a prefix after its last use.", default=None, ge=1
    )

    def __post_init__(self) -> None:
        prices = (self.input, self.output, self.cache_read, self.cache_write)
        if any(price is not None for price in prices) and None in (self.input, self.output):
            raise ValueError("must have both input and output if it has a price")


class ConductTable(Table):
    """Limits of tickets; the configuration of a project can only lower those of the user."""

    max_tokens: TokenNumber | None = key(
        "Token limit of all requests and answers of a ticket; 500,000 by default.", default=None
    )
    max_seconds: float | None = key(
        "Limit of one attempt in seconds; the ticket's by default.", default=None, gt=0
    )
    max_turns: int | None = key(
        "Limit of turns of a ticket with tools, each a request; 40 by default.", default=None, ge=1
    )
    commands: list[str] = key(
        'Beginnings of commands that tickets may run in their own work trees, such as "pytest -q"; only in '
        "your own configuration, or in that of a project that you trust.",
        default_factory=list,
    )
    sandbox: bool = key(
        "false runs these commands on the machine itself; only in your own configuration.",
        default=True,
    )


class RedactionTable(Table):
    """Which secrets in a prompt are replaced by placeholders."""

    run: bool = key("Let `run` replace secrets even without a task and a budget.", default=False)
    send: bool = key(
        "false lets `send`, `goal` and `conduct` send secrets unchanged; only in your own configuration, since a "
        "project's file is not trusted.",
        default=True,
    )
    allow: list[Annotated[str, Check("Field", pattern=r"^sha256:[0-9a-f]{64}$")]] = key(
        "Hashes of values that are not secrets, as printed in warnings.", default_factory=list
    )


def _section(table: type[Table]) -> Any:  # noqa: ANN401 - as of key
    return key(str(table.__doc__), default=table())


class Config(Table):
    """A project's configuration, ``manual_slop.toml``."""

    project: ProjectTable = _section(ProjectTable)
    output: OutputTable = _section(OutputTable)
    files: FilesTable = _section(FilesTable)
    screenshots: ScreenshotsTable = _section(ScreenshotsTable)
    discussion: DiscussionTable = _section(DiscussionTable)
    task: TaskTable = _section(TaskTable)
    budget: BudgetTable = _section(BudgetTable)
    prompt: PromptTable = _section(PromptTable)
    send: SendTable = _section(SendTable)
    trust: TrustTable = _section(TrustTable)
    conduct: ConductTable = _section(ConductTable)
    redaction: RedactionTable = _section(RedactionTable)
    history: list[Turn] = key(
        "Turns before those under discussion.", default_factory=list, fail_fast=True
    )
    personas: dict[str, PersonaTable] = key(
        "Models with their options, by name.", default_factory=dict
    )
    context_presets: dict[str, PresetTable] = key("Context presets by name.", default_factory=dict)
    models: dict[str, ModelTable] = key(
        "Prices, windows and caches of models by name; in the user's own configuration only.",
        default_factory=dict,
    )


def plain_table(kind: Any, data: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a table and its class
    """Return a table of only texts, paths, switches and such tables; None if pydantic must check it.

    Most configurations are so, and loading pydantic takes a tenth of a second.
    """
    forms = {known.name: known.type for known in fields(kind)}
    values = {name: _plain(forms.get(name), value) for name, value in data.items()}
    if None in values.values():
        return None
    try:
        return kind(**values)
    except TypeError:  # a key is missing
        return None


def _plain(form: Any, value: Any) -> Any:  # noqa: ANN401 - of any type
    if form is FileEntry:
        form, value = FileTable, _file_table(value)
    if isinstance(value, dict) and isinstance(form, type) and issubclass(form, Table):
        return plain_table(form, value)
    if isinstance(value, list) and get_origin(form) is list:
        items = [_plain(get_args(form)[0], item) for item in value]
        return None if None in items else items
    is_text = isinstance(value, str) and value.isascii()
    if form is PathText and is_text and "\0" not in value and len(value) <= _PART_BYTES:
        return value
    is_plain = form is type(value) is bool or (form is str and is_text)
    return value if is_plain or (get_origin(form) is Literal and value in get_args(form)) else None


def as_data(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Convert a table to new dictionaries and lists; unknown keys are kept."""
    if isinstance(value, Table):
        # A cached table only stores values other than the defaults.
        value = {name: getattr(value, name) for name in type(value).__annotations__} | vars(value)
    if isinstance(value, dict):
        return {name: as_data(item) for name, item in value.items()}
    return [as_data(item) for item in value] if isinstance(value, list) else value


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``manual_slop.toml``."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(Config).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
