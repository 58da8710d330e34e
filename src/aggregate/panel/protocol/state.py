"""What the page shows beside files and prompt, and what it hears of changes."""

from typing import Literal, TypedDict


class TurnData(TypedDict):
    """One turn of the discussion.

    Attributes:
        id: Its number, from ``0``.
        role: Who speaks.
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
        turns: Oldest first.
    """

    name: str
    names: list[str]
    turns: list[TurnData]


class ScreenshotData(TypedDict):
    """An image.

    Attributes:
        path: As the prompt shows it.
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
        tokens: Of it.
    """

    on: bool
    text: str
    tokens: int


class TaskData(TypedDict):
    """What the prompt is for.

    Attributes:
        text: In the user's words.
        focus: ``PATH[:LINE[-LINE]]``, shown whatever they cost; not saved.
        symbols: Names of definitions; not saved.
        since: A git revision; not saved.
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
        output: The same of output.
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
    """A context preset.

    Attributes:
        name: Its name.
        description: One line.
        scope: Where it is stored.
        files: How many entries it has.
    """

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
        project: Its name.
        root: The project's folder.
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
        views: The view modes.
        strategy: ``auto``, ``summarize`` or ``full``.
        strategies: All three.
        preset: The active preset, ``""`` for none.
        presets: All.
        discussion: The discussion.
        beads: ``null`` where the project has none.
        screenshots: All.
        task: What the prompt is for.
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
        version: As in the state.
        revision: The newest.
        composed: The revision that the prompt is of.
        what: ``draft``, ``disk``, ``config``, ``composed`` or ``hello`` (the first one of a connection).
        paths: With ``disk``: the files, at most a hundred; empty where they are more or unknown.
    """

    version: str
    revision: int
    composed: int
    what: Literal["hello", "draft", "disk", "config", "composed"]
    paths: list[str]
