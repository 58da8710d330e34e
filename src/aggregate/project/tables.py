"""What a ``manual_slop.toml`` may hold: its tables, what is checked of them, and the JSON Schema made from both."""

import re
from typing import Annotated, Any, Literal, Self

from aggregate.base.files import FileItem, ViewMode
from aggregate.base.request import MOST_TOKENS, Amount, parse_amount, parse_number
from aggregate.project.paths.globs import is_glob
from aggregate.project.table import Check, Table, key

ViewModeName = Literal["full", "summary", "skeleton", "outline", "masked", "custom", "none"]

GeneratedName = Literal["name", "outline", "full"]

MaskName = Literal["def", "sig", "hide"]

OrderName = Literal["configured", "edges"]

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

    start_line: int = key(description="First line, 1-based.")
    end_line: int = key(description="Last line, inclusive.")
    tag: str | None = key(default=None, description="A label shown above the slice.")
    comment: str | None = key(default=None, description="A remark shown above the slice.")


class FileTable(Table):
    """A file or glob, and how its files are shown."""

    path: PathText = key(description="A path or glob, relative to base_dir or absolute.")
    view_mode: ViewModeName = key(default="full", description="How the file is shown.")
    auto_aggregate: bool = key(
        default=True, description="false keeps the file out of the prompt, but in the items."
    )
    force_full: bool = key(
        default=False, description="Show the raw text whatever the view mode or strategy says."
    )
    selected: bool = key(default=False, description="Marked in a user interface.")
    ast_signatures: bool = key(default=False, description="Shortcut for the skeleton view.")
    ast_definitions: bool = key(default=False, description="Shortcut for the skeleton view.")
    ast_mask: dict[str, MaskName] = key(
        default_factory=dict,
        description='For masked: a symbol such as "Class.method" to def, sig or hide.',
    )
    custom_slices: list[SliceTable] = key(
        fail_fast=True, default_factory=list, description="For custom: the lines to show."
    )
    injected_at: float | None = key(default=None, description="Unix time of the last injection.")
    tier: int | None = key(default=None, description="3 marks a focus file of a Tier 3 context.")


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

    description: str = key(default="", description="One line for lists.")
    files: list[FileEntry] = key(
        fail_fast=True, default_factory=list, description="Paths, globs, or tables with a path."
    )
    screenshots: list[PathText] = key(
        fail_fast=True, default_factory=list, description="Paths or globs of images."
    )
    budget: TokenAmount | None = key(
        default=None,
        description='The most tokens of a prompt with this preset, such as 32000, "32k" or "auto".',
    )


class ProjectTable(Table):
    """The project and how its prompt is made."""

    name: str = key(default="", description="The project's name; the folder's name by default.")
    summary_only: bool = key(
        default=False, description="With the strategy auto: show files by their summary."
    )
    aggregation_strategy: str = key(
        default="auto", description="auto, summarize or full; anything else means auto."
    )
    execution_mode: str = key(
        default="native", description='"beads" adds the progress track; anything else is native.'
    )
    active_preset: str = key(
        default="", description="The context preset in force instead of the files and screenshots."
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
        default="",
        description="First part of the file names; made from the project's name by default.",
    )
    output_dir: PathText = key(default="md_gen", description="Folder of the numbered prompts.")


class FilesTable(Table):
    """The files of the prompt."""

    base_dir: PathText = key(
        default=".", description="Where relative paths begin, relative to this file."
    )
    paths: list[FileEntry] = key(
        fail_fast=True, default_factory=list, description="Paths, globs, or tables with a path."
    )
    exclude: list[PathText] = key(
        fail_fast=True,
        default_factory=list,
        description="Patterns as in .gitignore; what they match is not taken by a glob.",
    )
    generated: GeneratedName = key(
        default="name",
        description="What is shown of generated files that a glob stands for: their names and sizes in one list, "
        "outlines, or full for what their entry asks. A file that is named is shown as asked.",
    )


class ScreenshotsTable(Table):
    """The images of the prompt."""

    base_dir: PathText = key(
        default=".", description="Where relative paths begin, relative to this file."
    )
    paths: list[PathText] = key(
        fail_fast=True, default_factory=list, description="Paths or globs of images."
    )


class TurnTable(Table):
    """One turn of the discussion."""

    role: str = key(default="Unknown", description="Who speaks.")
    content: str = key(default="", description="What was said.")


# A turn as plain text, or with its role.
Turn = Annotated[
    Annotated[str, Check("Tag", "text")] | Annotated[TurnTable, Check("Tag", "turn")],
    Check("Discriminator", lambda turn: "text" if isinstance(turn, str) else "turn"),
]

# What pydantic puts into an error's location where a value may have two forms.
UNION_TAGS = frozenset({"text", "turn"})


class DiscussionTable(Table):
    """The discussion so far."""

    history: list[Turn] = key(
        fail_fast=True, default_factory=list, description="The turns, oldest first."
    )


class PersonaTable(Table):
    """Who is asked, and how the prompt is made for it."""

    provider: str = key(
        default="",
        description="anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible or scripted.",
    )
    model: str = key(
        default="",
        description="The provider's name of the model; the provider's usual one by default.",
    )
    base_url: str = key(
        default="",
        description="Where the provider is reached; in a project's own file for compatible only.",
    )
    system_prompt: str = key(default="", description="Instructions that go before everything.")
    aggregation_strategy: str = key(
        default="", description="auto, summarize or full; goes before the strategy of the project."
    )
    preset: str = key(
        default="", description="The context preset to take files and screenshots from."
    )
    budget: TokenAmount | None = key(
        default=None,
        description='The most tokens of a prompt for this persona, such as 32000, "32k" or "auto".',
    )


class TaskTable(Table):
    """What prompts are for, where nothing else says so."""

    text: str = key(
        default="",
        description="The task in your words: files are ranked, and with a budget chosen, for it.",
    )


class BudgetTable(Table):
    """How many tokens a prompt may have, and what is shown within them."""

    tokens: TokenAmount | None = key(
        default=None,
        description='The most tokens (o200k) of the whole markdown, such as 32000, "32k" or "auto"; no limit by '
        "default.",
    )
    most: TokenNumber = key(
        default=60_000,
        description='The most tokens that "auto" takes of a model\'s context window.',
    )
    history: float = key(
        default=0.2,
        ge=0,
        le=1,
        description="The part, of what pinned files leave, that the discussion may take at most.",
    )
    results: float = key(
        default=0.2,
        ge=0,
        le=1,
        description="The part, of what pinned files leave, that sub-agents' results may take at most.",
    )
    order: OrderName = key(
        default="configured",
        description="The order of the files: configured, or edges for the most relevant last and the next ones first.",
    )
    tier3: TokenAmount | None = key(
        default=None,
        description="The most tokens of a Tier 3 prompt, and so of each ticket's; those of tokens by default.",
    )


class TrustTable(Table):
    """Which projects may read files outside of them; in the user's own configuration only."""

    projects: list[str] = key(
        default_factory=list, description="Absolute paths of the projects' roots."
    )


def _alias(model: str) -> str:
    if not model.strip() or not model.isprintable() or len(model) > _NAME_BYTES:
        raise ValueError('must be a model, such as "anthropic/claude-haiku-4-5"')
    return model


class SendTable(Table):
    """How prompts are sent, and to whom where neither an option nor a persona says so."""

    provider: str = key(
        default="",
        description="anthropic, gemini, gemini-cli, deepseek, minimax, openai, compatible or scripted.",
    )
    model: str = key(
        default="",
        description="The provider's name of the model, or an alias; the provider's usual one by default.",
    )
    persona: str = key(default="", description="Who is asked where no persona is named.")
    base_url: str = key(
        default="",
        description="Where the provider is reached; in a project's own file for compatible on this machine only.",
    )
    max_output: TokenNumber | None = key(
        default=None, description="The most tokens of an answer; 16,000 by default."
    )
    budget: TokenAmount | None = key(
        default=None,
        description='The most tokens of a whole request, such as 32000, "32k" or "auto".',
    )
    aliases: dict[str, Annotated[str, Check("AfterValidator", _alias)]] = key(
        default_factory=dict,
        description='Short names of models, such as fast = "anthropic/claude-haiku-4-5".',
    )
    effort: Literal["low", "medium", "high"] | None = key(
        default=None,
        description="How long the model thinks before it answers; its own choice by default.",
    )
    temperature: float | None = key(
        default=None,
        ge=0,
        le=2,
        description="How freely the model chooses its words, where it takes a temperature.",
    )
    diffs: bool = key(
        default=True,
        description="Let a changed file stand as a cache holds it, with a diff behind the files, if that is cheaper; "
        "false shows every file as it is now, in one piece.",
    )
    cache: Literal["auto", "5m", "1h", "off"] = key(
        default="auto",
        description="How long the provider's cache is to keep what is sent: auto chooses by the pauses of the "
        "discussion, 5m and 1h are fixed lifetimes, off sets no breakpoints and writes nothing to a cache.",
    )


class ModelTable(Table):
    """What a model costs and takes, where the shipped tables lack it or are out of date; prices are for a million."""

    window: TokenNumber | None = key(default=None, description="Tokens of its context window.")
    input: _Dollars | None = key(
        default=None, description="US dollars for a million tokens of input."
    )
    output: _Dollars | None = key(
        default=None, description="US dollars for a million tokens of output."
    )
    cache_read: _Dollars | None = key(
        default=None, description="US dollars for a million tokens that are read from the cache."
    )
    cache_write: _Dollars | None = key(
        default=None, description="US dollars for a million tokens that are written to the cache."
    )
    minimum: TokenNumber | None = key(
        default=None, description="Tokens of the shortest beginning that the cache keeps."
    )
    lifetime: int | None = key(
        default=None, ge=1, description="Seconds that the cache keeps it after its last use."
    )

    @classmethod
    def check(cls, table: Self) -> None:
        prices = (table.input, table.output, table.cache_read, table.cache_write)
        if any(price is not None for price in prices) and None in (table.input, table.output):
            raise ValueError("must have both input and output where it has a price")


class GoalTable(Table):
    """What one goal may use. A project's own file can lower what the user's allows, and never raise it."""

    max_tokens: int | None = key(
        default=None,
        ge=1,
        description="Tokens of all questions and answers; one that is read from a cache counts at its price.",
    )
    max_seconds: float | None = key(default=None, gt=0, description="Wall time.")
    max_steps: int | None = key(default=None, ge=1, description="Steps of its plan.")


class ConductTable(Table):
    """What one attempt at a ticket may use; a project's own file can only lower what the user's allows."""

    max_tokens: TokenNumber | None = key(
        default=None,
        description="The most tokens of all requests and answers of one attempt; 200,000 by default.",
    )
    max_seconds: float | None = key(
        default=None,
        gt=0,
        description="The most seconds of one attempt; what the ticket says by default.",
    )
    max_steps: int | None = key(
        default=None, ge=1, description="The most steps of a ticket with tools; 4 by default."
    )


class RedactionTable(Table):
    """Which secrets are replaced by placeholders in a prompt."""

    run: bool = key(
        default=False, description="Whether `run` replaces secrets without a task and a budget too."
    )
    send: bool = key(
        default=True,
        description="false lets `send`, `goal` and `conduct` send secrets as they are; it counts in the user's own "
        "configuration only, since a project's may come from somebody else.",
    )
    allow: list[Annotated[str, Check("Field", pattern=r"^sha256:[0-9a-f]{64}$")]] = key(
        default_factory=list,
        description="Values that are no secrets, each by its hash as the warning names it.",
    )


def _section(table: type[Table]) -> Any:  # noqa: ANN401 - as of key
    return key(table(), description=str(table.__doc__))


class Config(Table):
    """A project's configuration, ``manual_slop.toml``."""

    project: ProjectTable = _section(ProjectTable)
    output: OutputTable = _section(OutputTable)
    files: FilesTable = _section(FilesTable)
    screenshots: ScreenshotsTable = _section(ScreenshotsTable)
    discussion: DiscussionTable = _section(DiscussionTable)
    task: TaskTable = _section(TaskTable)
    budget: BudgetTable = _section(BudgetTable)
    send: SendTable = _section(SendTable)
    goal: GoalTable = _section(GoalTable)
    trust: TrustTable = _section(TrustTable)
    conduct: ConductTable = _section(ConductTable)
    redaction: RedactionTable = _section(RedactionTable)
    history: list[Turn] = key(
        fail_fast=True, default_factory=list, description="Turns before those under discussion."
    )
    personas: dict[str, PersonaTable] = key(
        default_factory=dict, description="Whom to send to, by name."
    )
    context_presets: dict[str, PresetTable] = key(
        default_factory=dict, description="Context presets by name."
    )
    models: dict[str, ModelTable] = key(
        default_factory=dict,
        description="Prices, windows and caches of models by name; in the user's own configuration only.",
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``manual_slop.toml``."""
    schema = Config.as_model().model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
