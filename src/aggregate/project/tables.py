"""What a ``manual_slop.toml`` may hold: its tables, what is checked of them, and the JSON Schema made from both."""

import re
from typing import Annotated, Any, Literal

from aggregate.base.files import FileItem, ViewMode
from aggregate.base.request import MOST_TOKENS, Amount, parse_amount, parse_number
from aggregate.project.paths.globs import is_glob
from aggregate.project.table import Check, Table, key

ViewModeName = Literal["full", "summary", "skeleton", "outline", "masked", "custom", "none"]

GeneratedName = Literal["name", "outline", "full"]

MaskName = Literal["def", "sig", "hide"]

OrderName = Literal["auto", "configured", "relevance", "edges"]

BEADS_MODE = "beads"  # The ``execution_mode`` that adds the section of beads

# Of a namespace: file systems take names of 255 bytes, and numbers and endings are put behind it.
_NAME_BYTES = 200

# What common file systems take; a longer path is a mistake, or made to break a program.
_PATH_BYTES, _PART_BYTES = 4_000, 255


def _path(text: str) -> str:
    if re.search(
        "[\0\ud800-\udc7f\udd00-\udfff]", text
    ):  # the others stand for bytes that are no UTF-8
        raise ValueError(
            "must be a path, which holds no null character and no half of a surrogate pair"
        )
    parts = [len(part.encode(errors="surrogateescape")) for part in re.split(r"[/\\]", text)]
    if sum(parts) > _PATH_BYTES or (max(parts) > _PART_BYTES and not is_glob(text)):
        raise ValueError(
            f"must be a path, of at most {_PATH_BYTES:,} bytes and {_PART_BYTES} between two slashes"
        )
    return text


PathText = Annotated[str, Check("AfterValidator", _path)]

# What the published schema says of a number of tokens; what counts is ``models.amounts``.
_Number = Annotated[int, Check("Field", ge=1, le=MOST_TOKENS)]

# A number of tokens, or a text such as ``"32k"``.
TokenNumber = Annotated[
    int, Check("BeforeValidator", parse_number, json_schema_input_type=_Number | str)
]

# The same, or ``"auto"``.
TokenAmount = Annotated[
    Amount, Check("BeforeValidator", parse_amount, json_schema_input_type=_Number | str)
]

_Dollars = Annotated[float, Check("Field", ge=0, allow_inf_nan=False)]


class SliceTable(Table, others=True):
    """A run of lines of a file; what ``FuzzyAnchor.create_slice`` adds is kept as it is."""

    start_line: int = key("First line, 1-based.")
    end_line: int = key("Last line, inclusive.")
    tag: str | None = key("A label shown above the slice.", default=None)
    comment: str | None = key("A remark shown above the slice.", default=None)


class FileTable(Table):
    """A file or glob, and how its files are shown."""

    path: PathText = key("A path or glob, relative to base_dir or absolute.")
    view_mode: ViewModeName = key("How the file is shown.", default="full")
    auto_aggregate: bool = key(
        "false keeps the file out of the prompt, but in the items.", default=True
    )
    force_full: bool = key(
        "Show the raw text whatever the view mode or strategy says.", default=False
    )
    selected: bool = key("Marked in a user interface.", default=False)
    ast_signatures: bool = key("Shortcut for the skeleton view.", default=False)
    ast_definitions: bool = key("Shortcut for the skeleton view.", default=False)
    ast_mask: dict[str, MaskName] = key(
        'For masked: a symbol such as "Class.method" to def, sig or hide.', default_factory=dict
    )
    custom_slices: list[SliceTable] = key(
        "For custom: the lines to show.", default_factory=list, fail_fast=True
    )
    injected_at: float | None = key("Unix time of the last injection.", default=None)
    tier: int | None = key("3 marks a focus file of a Tier 3 context.", default=None)


def _file_table(entry: object) -> object:
    """Return an entry as the fields of a table: a path, or an item as the builders take it."""
    if isinstance(entry, FileItem):
        return {**entry.to_dict(), "view_mode": ViewMode.parse(entry.view_mode).value}
    return {"path": entry} if isinstance(entry, str) else entry


# A table, or just its path.
FileEntry = Annotated[
    FileTable, Check("BeforeValidator", _file_table, json_schema_input_type=str | FileTable)
]


class PresetTable(Table):
    """A named composition of files and screenshots."""

    description: str = key("One line for lists.", default="")
    files: list[FileEntry] = key(
        "Paths, globs, or tables with a path.", default_factory=list, fail_fast=True
    )
    screenshots: list[PathText] = key(
        "Paths or globs of images.", default_factory=list, fail_fast=True
    )
    budget: TokenAmount | None = key(
        'The most tokens of a prompt with this preset, such as 32000, "32k" or "auto".',
        default=None,
    )


class ProjectTable(Table):
    """The project and how its prompt is made."""

    name: str = key("The project's name; the folder's name by default.", default="")
    summary_only: bool = key("With the strategy auto: show files by their summary.", default=False)
    aggregation_strategy: str = key(
        "auto, summarize or full; anything else means auto.", default="auto"
    )
    execution_mode: str = key(
        '"beads" adds the progress track; anything else is native.', default="native"
    )
    active_preset: str = key(
        "The context preset in force instead of the files and screenshots.", default=""
    )


def _file_name(name: str) -> str:
    if re.search(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]", name):
        raise ValueError("must be a plain file name without slashes and control characters")
    if len(name.encode()) > _NAME_BYTES:
        raise ValueError(
            f"must have at most {_NAME_BYTES} bytes, so that file names can begin with it"
        )
    return name


class OutputTable(Table):
    """Where prompts are written."""

    namespace: Annotated[str, Check("AfterValidator", _file_name)] = key(
        "First part of the file names; made from the project's name by default.", default=""
    )
    output_dir: PathText = key("Folder of the numbered prompts.", default="md_gen")


class FilesTable(Table):
    """The files of the prompt."""

    base_dir: PathText = key("Where relative paths begin, relative to this file.", default=".")
    paths: list[FileEntry] = key(
        "Paths, globs, or tables with a path.", default_factory=list, fail_fast=True
    )
    exclude: list[PathText] = key(
        "Patterns as in .gitignore; what they match is not taken by a glob.",
        default_factory=list,
        fail_fast=True,
    )
    generated: GeneratedName = key(
        "What is shown of generated files that a glob stands for: their names and sizes in one list, "
        "outlines, or full for what their entry asks. A file that is named is shown as asked.",
        default="name",
    )


class ScreenshotsTable(Table):
    """The images of the prompt."""

    base_dir: PathText = key("Where relative paths begin, relative to this file.", default=".")
    paths: list[PathText] = key("Paths or globs of images.", default_factory=list, fail_fast=True)


class TurnTable(Table):
    """One turn of the discussion."""

    role: str = key("Who speaks.", default="Unknown")
    content: str = key("What was said.", default="")


# A turn as plain text, or with its role.
Turn = Annotated[
    Annotated[str, Check("Tag", "text")] | Annotated[TurnTable, Check("Tag", "turn")],
    Check("Discriminator", lambda turn: "text" if isinstance(turn, str) else "turn"),
]

# What pydantic puts into an error's location where a value may have two forms.
UNION_TAGS = frozenset({"text", "turn"})


class DiscussionTable(Table):
    """The discussion so far."""

    history: list[Turn] = key("The turns, oldest first.", default_factory=list, fail_fast=True)


class PersonaTable(Table):
    """Who is asked, and how the prompt is made for it."""

    provider: str = key(
        "anthropic, gemini, deepseek, minimax, openai, compatible or scripted.", default=""
    )
    model: str = key(
        "The provider's name of the model; the provider's usual one by default.", default=""
    )
    base_url: str = key(
        "Where the provider is reached; in a project's own file for compatible only.", default=""
    )
    system_prompt: str = key("Instructions that go before everything.", default="")
    aggregation_strategy: str = key(
        "auto, summarize or full; goes before the strategy of the project.", default=""
    )
    preset: str = key("The context preset to take files and screenshots from.", default="")
    budget: TokenAmount | None = key(
        'The most tokens of a prompt for this persona, such as 32000, "32k" or "auto".',
        default=None,
    )


class TaskTable(Table):
    """What prompts are for, where nothing else says so."""

    text: str = key(
        "The task in your words: files are ranked, and with a budget chosen, for it.", default=""
    )
    pick: str = key(
        "In your own configuration: ask this model, PROVIDER:MODEL, once which of the likeliest files matter.",
        default="",
    )


class PromptTable(Table):
    """What a prompt says beside what it shows of the project."""

    frame: bool = key(
        "Whether a prompt for a task with a budget begins with the project's name and ends with the task.",
        default=True,
    )
    instructions: str = key(
        "Instructions, or a file with some, that stand in each prompt; in a project's own file they count for a task "
        "with a budget, if you trust the project.",
        default="",
    )


class BudgetTable(Table):
    """How many tokens a prompt may have, and what is shown within them."""

    tokens: TokenAmount | None = key(
        'The most tokens (o200k) of the whole markdown, such as 32000, "32k" or "auto"; no limit by '
        "default.",
        default=None,
    )
    most: TokenNumber = key(
        'The most tokens that "auto" takes of a model\'s context window.', default=60_000
    )
    history: float = key(
        "The part, of what pinned files leave, that the discussion may take at most.",
        default=0.2,
        ge=0,
        le=1,
    )
    results: float = key(
        "The part, of what pinned files leave, that sub-agents' results may claim at least.",
        default=0.2,
        ge=0,
        le=1,
    )
    order: OrderName = key(
        "The order of the files: configured, relevance, or edges for the most relevant last and the next ones first; "
        "auto is relevance for prompts of run without a discussion, else configured.",
        default="auto",
    )
    tier3: TokenAmount | None = key(
        "The most tokens of a Tier 3 prompt, and so of each ticket's; those of tokens by default.",
        default=None,
    )


class TrustTable(Table):
    """Which projects may read files outside of them; in the user's own configuration only."""

    projects: list[str] = key("Absolute paths of the projects' roots.", default_factory=list)


class SendTable(Table):
    """How prompts are sent, and to whom where neither an option nor a persona says so."""

    provider: str = key(
        "anthropic, gemini, deepseek, minimax, openai, compatible or scripted.", default=""
    )
    model: str = key(
        "The provider's name of the model; the provider's usual one by default.", default=""
    )
    persona: str = key("Who is asked where no persona is named.", default="")
    base_url: str = key(
        "Where the provider is reached; in a project's own file for compatible on this machine only.",
        default="",
    )
    max_output: TokenNumber | None = key(
        "The most tokens of an answer; 16,000 by default.", default=None
    )
    budget: TokenAmount | None = key(
        'The most tokens of a whole request, such as 32000, "32k" or "auto".', default=None
    )
    effort: Literal["low", "medium", "high"] | None = key(
        "How long the model thinks before it answers; its own choice by default.", default=None
    )
    most_per_day: _Dollars | None = key(
        "The most US dollars that all requests of a day may cost; what could exceed it is not sent.",
        default=None,
    )
    pick: bool | None = key(
        "With a budget: first ask the model itself which of the likeliest files matter.",
        default=None,
    )


class ModelTable(Table):
    """What a model costs and takes, where the shipped tables lack it or are out of date; prices are for a million."""

    window: TokenNumber | None = key("Tokens of its context window.", default=None)
    input: _Dollars | None = key("US dollars for a million tokens of input.", default=None)
    output: _Dollars | None = key("US dollars for a million tokens of output.", default=None)
    cache_read: _Dollars | None = key(
        "US dollars for a million tokens that are read from the cache.", default=None
    )
    cache_write: _Dollars | None = key(
        "US dollars for a million tokens that are written to the cache.", default=None
    )
    minimum: TokenNumber | None = key(
        "Tokens of the shortest beginning that the cache keeps.", default=None
    )
    lifetime: int | None = key(
        "Seconds that the cache keeps it after its last use.", default=None, ge=1
    )

    def __post_init__(self) -> None:
        prices = (self.input, self.output, self.cache_read, self.cache_write)
        if any(price is not None for price in prices) and None in (self.input, self.output):
            raise ValueError("must have both input and output where it has a price")


class ConductTable(Table):
    """Maxima of a ticket; a project's own file can only lower what the user's allows."""

    max_tokens: TokenNumber | None = key(
        "The most tokens of all requests and answers of a ticket; 500,000 by default.", default=None
    )
    max_seconds: float | None = key(
        "The most seconds of one attempt; what the ticket says by default.", default=None, gt=0
    )
    max_turns: int | None = key(
        "The most turns of a ticket with tools, each a request; 40 by default.", default=None, ge=1
    )
    commands: list[str] = key(
        'Beginnings of commands that tickets may run in their own work trees, such as "pytest -q"; it counts '
        "in your own configuration, or in that of a project that you trust.",
        default_factory=list,
    )
    sandbox: bool = key(
        "false runs these commands on the machine itself; it counts in your own configuration only.",
        default=True,
    )


class RedactionTable(Table):
    """Which secrets are replaced by placeholders in a prompt."""

    run: bool = key(
        "Whether `run` replaces secrets without a task and a budget too.", default=False
    )
    send: bool = key(
        "false lets `send`, `goal` and `conduct` send secrets as they are; it counts in the user's own "
        "configuration only, since a project's may come from somebody else.",
        default=True,
    )
    allow: list[Annotated[str, Check("Field", pattern=r"^sha256:[0-9a-f]{64}$")]] = key(
        "Values that are no secrets, each by its hash as the warning names it.",
        default_factory=list,
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
    personas: dict[str, PersonaTable] = key("Whom to send to, by name.", default_factory=dict)
    context_presets: dict[str, PresetTable] = key("Context presets by name.", default_factory=dict)
    models: dict[str, ModelTable] = key(
        "Prices, windows and caches of models by name; in the user's own configuration only.",
        default_factory=dict,
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``manual_slop.toml``."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(Config).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
