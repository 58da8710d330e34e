"""What the page and the server say to each other: JSON, described by types.

Lines are 1-based and inclusive, and ``0`` where there is none. Paths are as the prompt shows them: relative to the base
directory with ``/``. An answer to a mistake has the status 4xx and is a ``Failure``.
"""

from typing import Literal, NotRequired, TypedDict

FileState = Literal["", "changed", "stale", "error", "secret", "generated", "binary"]
"""What is to be seen of a file at a glance; the first that applies: ``error``, ``stale``, ``secret``, ``binary``,
``changed`` (since the last prompt that was sent or written), ``generated``."""


class FilesData(TypedDict):
    """All files that could enter, column by column; the n-th value of each column is of the n-th file.

    ``GET /api/files`` gives all; with ``?since=REVISION`` it may give only those that have changed, in which case
    ``full`` is false and ``removed`` names those that are gone.

    Attributes:
        revision: What they are of; ask with ``since`` this.
        path: Paths, sorted as the tree shows them (``/`` before all else).
        view: The view or level that the prompt shows, ``""`` where the file is out.
        mode: The view that its entry asks for, ``""`` where no entry names it.
        whole: Of the whole file, ``0`` where not known yet.
        score: ``null`` without a task.
        state: What is to be seen at a glance.
        why: Why it is in or out, one line; ``""`` where there is nothing to say.
    """

    revision: int
    full: bool
    path: list[str]
    view: list[str]
    mode: list[str]
    tokens: list[int]
    whole: list[int]
    score: list[float | None]
    state: list[FileState]
    why: list[str]
    removed: list[str]


class DefinitionData(TypedDict):
    """A definition in a file.

    Attributes:
        name: What a mask names it by, such as ``Class.method``.
        kind: ``function``, ``class``, …
        depth: How deep it is nested, ``0`` for the top.
        mask: ``def``, ``sig``, ``hide`` or ``""``.
    """

    name: str
    kind: str
    start: int
    end: int
    depth: int
    mask: str


class SliceData(TypedDict):
    """A slice of a file.

    Attributes:
        id: Its number among the file's slices; changes when one before it is removed.
        start: Where its lines are now (for ``stale`` where they were).
        state: ``exact``: unchanged where it was; ``moved``: found elsewhere, unchanged or edited; ``stale``: not to be
            relied on; ``anchorless``: taken by its line numbers alone.
        candidate: Where ``stale`` lines may have gone, ``null`` for nowhere.
    """

    id: int
    start: int
    end: int
    tag: str
    comment: str
    state: Literal["exact", "moved", "stale", "anchorless"]
    candidate: "PlaceData | None"
    why: str


class PlaceData(TypedDict):
    """Lines of a file."""

    start: int
    end: int


class FileData(TypedDict):
    """One file: its source beside its view.

    Attributes:
        hash: Of its bytes, ``""`` where it cannot be read or holds a secret.
        language: For a label, ``""`` where unknown.
        origin: For each line of ``view`` the line of the source that it shows, ``0`` for one that was made.
        entry: The path or glob of the configuration that decides on it, ``""`` for none.
        definitions: In the order of the file.
        slices: In the order of the configuration.
        redacted: Runs ``[first, last]`` of lines of the source in which secrets were found; they are replaced here too.
        score: ``null`` without a task.
        evidence: Why that score, ``[kind, weight, matched]``, the strongest first.
        error: Why it is not shown, ``""`` for nothing.
    """

    path: str
    hash: str
    revision: int
    language: str
    mode: str
    view: list[str]
    origin: list[int]
    source: list[str]
    entry: str
    by_glob: bool
    definitions: list[DefinitionData]
    slices: list[SliceData]
    sizes: dict[str, int]
    redacted: list[list[int]]
    score: float | None
    evidence: list[list[str | float]]
    error: str


class SectionData(TypedDict):
    """A part of the prompt that folds: a section, or a file, turn or result in one.

    Attributes:
        kind: ``section``, ``file``, ``turn``, …
        source: The path of a file, the number of a turn, …
        first: Its first line in the prompt.
        depth: ``0`` for a section, ``1`` for what it holds.
    """

    title: str
    kind: str
    source: str
    first: int
    last: int
    tokens: int
    depth: int


class NotEnteredData(TypedDict):
    """A candidate that stays out.

    Attributes:
        level: ``name`` where it is listed by name, ``left out`` where not even that.
        score: ``null`` without a task.
    """

    path: str
    level: str
    score: float | None
    why: str


class PromptData(TypedDict):
    """The prompt without its text.

    Attributes:
        lines: How many lines ``/api/prompt/lines`` has.
        sections: What folds, in the order of the prompt.
        breakpoints: Lines before which ``send`` sets a breakpoint of the cache.
        kept_until: The last line of the prefix that is the same as in the last send, ``0`` for none.
        not_entered: The first three hundred by score.
        error: Why there is no prompt, ``""`` for nothing.
    """

    revision: int
    tokens: int
    bytes: int
    lines: int
    sections: list[SectionData]
    breakpoints: list[int]
    kept_until: int
    kept_sentence: str
    not_entered: list[NotEnteredData]
    not_entered_count: int
    error: str


class LinesData(TypedDict):
    """Some lines of the prompt.

    Attributes:
        revision: What they are of; ask ``/api/prompt`` again where it is another one.
        origins: For each the path of its file and the line that it shows or stands for (``0`` for the whole file), or
            ``null``; ``kinds`` says what it is.
        kinds: For each ``file``, ``turn``, ``bead``, ``result``, ``screenshot`` or ``generated``.
        stands_for: For each what it stands for, ``""`` for a line as in the file.
    """

    revision: int
    first: int
    lines: list[str]
    origins: list[list[str | int] | None]
    kinds: list[str]
    stands_for: list[str]


class TurnData(TypedDict):
    """One turn of the discussion.

    Attributes:
        id: Its number, from ``0``.
        beginning: The first characters of what was said.
        tokens: Of the turn as the prompt shows it; ``0`` where it is out.
        on: Whether it is in the prompt.
    """

    id: int
    role: str
    beginning: str
    tokens: int
    on: bool


class DiscussionData(TypedDict):
    """The discussion in force and the others.

    Attributes:
        name: Its name, ``""`` for the default one, ``"none"`` for no turns at all.
        names: Those that there are, without ``""`` and ``"none"``.
    """

    name: str
    names: list[str]
    turns: list[TurnData]


class ScreenshotData(TypedDict):
    """An image.

    Attributes:
        url: Where the page gets it, ``""`` where it cannot be shown.
        problem: Why not, ``""`` for none.
        on: Whether it is in the prompt.
    """

    path: str
    url: str
    problem: str
    on: bool


class BeadsData(TypedDict):
    """The section of beads.

    Attributes:
        on: Whether it is in the prompt.
        text: Its markdown, ``""`` for none.
    """

    on: bool
    text: str
    tokens: int


class TaskData(TypedDict):
    """What the prompt is for.

    Attributes:
        focus: ``PATH[:LINE[-LINE]]``, shown whatever they cost; not saved.
    """

    text: str
    focus: list[str]
    symbols: list[str]
    since: str


class ModelData(TypedDict):
    """A model that the user has named, or a usual one.

    Attributes:
        name: ``provider/model`` or an alias of ``[send.models]``.
        window: Tokens of its context window, ``null`` where unknown.
        input: US dollars for a million tokens of input, ``null`` where unknown.
        tokens: Of the prompt by the provider's count, ``null`` where there is no prompt.
        cost: US dollars of the prompt as input, uncached; ``null`` where unknown.
    """

    name: str
    window: int | None
    input: float | None
    output: float | None
    tokens: int | None
    cost: float | None


class PromptTotals(TypedDict):
    """The size of the prompt."""

    tokens: int
    bytes: int
    lines: int


class PresetData(TypedDict):
    """A context preset."""

    name: str
    description: str
    scope: Literal["project", "global"]
    files: int


class StateData(TypedDict):
    """Everything but files and prompt.

    Attributes:
        version: Random for each start of the server: another one means that the server was restarted.
        revision: Counts each change of the draft and of the disk; that of the draft and disk seen, not of the prompt.
        composed: The revision that ``prompt``, files' tokens and ``warnings`` are of; less than ``revision`` while the
            prompt is being composed.
        config: The configuration's path, shown to the user.
        exists: Whether there is such a file yet.
        dirty: Whether the draft differs from the file.
        can_undo: Whether there is something to undo.
        can_redo: Whether there is something to redo.
        unsaved: Edits that were not saved when the panel ended last, in a sentence, until ``POST /api/draft/restore``
            takes them again or ``POST /api/draft/forget`` drops them; ``""`` for none.
        outside: Whether the configuration was changed on the disk since the draft was made of it, so that saving
            merges or is refused.
        config_problem: Why the configuration on the disk cannot be used, ``""`` where it can; the draft goes on.
        strategy: ``auto``, ``summarize`` or ``full``.
        preset: The active preset, ``""`` for none.
        beads: ``null`` where the project has none.
        budget: The most tokens, a number or ``"auto"``, ``null`` for no limit.
        budget_tokens: The same as a number, of the prompt that is composed.
        models: For the totals at the top.
        personas: Whom the page may send to, by name.
        prompt: ``null`` where it is not composed yet or cannot be.
        prompt_error: Why it cannot be, ``""`` for nothing.
        sections: Tokens of each section that is there.
        warnings: What was left out or is doubtful, one sentence each.
        cut: What else than files was shortened or left out for the budget, one sentence each.
    """

    version: str
    revision: int
    composed: int
    project: str
    root: str
    config: str
    exists: bool
    dirty: bool
    can_undo: bool
    can_redo: bool
    unsaved: str
    outside: bool
    config_problem: str
    views: list[str]
    strategy: str
    strategies: list[str]
    preset: str
    presets: list[PresetData]
    discussion: DiscussionData
    beads: BeadsData | None
    screenshots: list[ScreenshotData]
    task: TaskData
    budget: int | str | None
    budget_tokens: int | None
    models: list[ModelData]
    personas: list[str]
    prompt: PromptTotals | None
    prompt_error: str
    sections: dict[str, int]
    warnings: list[str]
    cut: list[str]


class EventData(TypedDict):
    """``GET /api/events``: one server-sent event ``change`` each time something has changed.

    Attributes:
        composed: The revision that the prompt is of.
        what: ``draft``, ``disk``, ``config``, ``composed`` or ``hello`` (the first one of a connection).
        paths: With ``disk``: the files, at most a hundred; empty where they are more or unknown.
    """

    version: str
    revision: int
    composed: int
    what: Literal["hello", "draft", "disk", "config", "composed"]
    paths: list[str]


class Failure(TypedDict):
    """Why a request was refused.

    Attributes:
        error: One sentence: what, where, what to do.
        conflict: Whether somebody else has changed the same thing on the disk.
    """

    error: str
    conflict: NotRequired[bool]


class EditData(TypedDict):
    """One edit; which keys count follows from ``op``.

    - ``view``: ``paths``, ``mode`` (a view or ``"out"``).
    - ``mask``: ``path``, ``name``, ``mask`` (``def``, ``sig``, ``hide`` or ``""``).
    - ``slice``: ``path``, ``start``, ``end``, ``tag``, ``comment``; shows the file by its slices.
    - ``confirm_slice``: ``path``, ``id``: captures the candidate anew; ``start`` and ``end`` choose other lines.
    - ``edit_slice``: ``path``, ``id``, ``tag``, ``comment``.
    - ``remove_slice``: ``path``, ``id``.
    - ``task``: any of ``task`` (text), ``focus``, ``symbols``, ``since``, ``budget`` (a number, a text or ``null``).
    - ``strategy``: ``name``.
    - ``discussion``: ``name``; not saved.
    - ``turn``: ``id``, ``on``; not saved.
    - ``section``: ``name`` (``beads`` or ``history``), ``on``.
    - ``screenshot``: ``path``, ``on``.
    - ``preset``: ``name``, ``""`` for none.
    """

    op: str
    paths: NotRequired[list[str]]
    path: NotRequired[str]
    mode: NotRequired[str]
    name: NotRequired[str]
    mask: NotRequired[str]
    id: NotRequired[int]
    start: NotRequired[int]
    end: NotRequired[int]
    tag: NotRequired[str]
    comment: NotRequired[str]
    on: NotRequired[bool]
    task: NotRequired[str]
    focus: NotRequired[list[str]]
    symbols: NotRequired[list[str]]
    since: NotRequired[str]
    budget: NotRequired[int | str | None]


class FitData(TypedDict):
    """A prompt for another budget, while the slider moves.

    Attributes:
        prompt: As ``/api/prompt``.
        files: The rows that changed (``full`` is false).
    """

    prompt: PromptData
    files: FilesData
    ms: float


class SavedData(TypedDict):
    """``POST /api/save``.

    Attributes:
        state: As ``/api/state``.
        merged: Whether changes on the disk were merged; the sentence says which.
    """

    state: StateData
    merged: bool
    sentence: str


class AddedImageData(TypedDict):
    """What came of ``POST /api/screenshot``.

    Attributes:
        state: As ``/api/state``.
        path: The screenshot's, as in ``ScreenshotData``.
    """

    state: StateData
    path: str


class RunData(TypedDict):
    """``POST /api/run``: the prompt was written, and where."""

    path: str
    tokens: int
    sentence: str


class PlanBlock(TypedDict):
    """A block of the request."""

    role: str
    sources: list[str]
    tokens: int
    marked: bool


class PlanData(TypedDict):
    """What would be sent. ``POST /api/send`` needs ``plan``, which holds once and for the text that was planned.

    Attributes:
        address: Where, ``""`` for the provider's own address.
        cost: US dollars of the input as expected, ``null`` where unknown.
        cached: Tokens that are expected to be read from the cache.
        window: Of the model, ``null`` where unknown.
        key: Whether a key is there; without one it cannot be sent.
        lines: The plan as ``aggregate send --dry-run`` prints it.
    """

    plan: str
    provider: str
    model: str
    address: str
    tokens: int
    provider_tokens: int
    blocks: list[PlanBlock]
    cost: float | None
    cached: int
    window: int | None
    key: bool
    lines: list[str]
    warnings: list[str]
