"""Resolve a prompt's settings: the caller's wishes, a preset, the configuration."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aggregate.base.disk.reading import read_text
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError
from aggregate.base.files import FOCUS_TIER, Entry, GeneratedView
from aggregate.base.nearest_names import did_you_mean
from aggregate.base.redaction import Redaction
from aggregate.base.task_budget import (
    AUTO,
    MOST_TOKENS,
    Amount,
    Budget,
    FileOrder,
    Finish,
    Given,
    Place,
    Task,
    parse_amount,
)
from aggregate.project.configuration import Project, global_config_path, user_config
from aggregate.project.files import display_path
from aggregate.project.history import discussion_name
from aggregate.project.tables import BEADS_MODE, BudgetTable, Config, PromptTable, TaskTable
from aggregate.prompt.asking.found_secrets import redact_text
from aggregate.prompt.asking.project import (
    DiscussionTurns,
    check_within,
    discussion_turns,
    find_preset,
    redaction_for,
    scope_of,
)
from aggregate.prompt.asking.request import EVERY, Request, Strategy

if TYPE_CHECKING:
    from aggregate.project.presets import ContextPreset

AskedTask = str | Task  # a task's text, or a task
AskedBudget = int | str | Budget  # ``32000``, ``"32k"``, ``"auto"``, or a budget
NO_BUDGET: Final = "all"  # overrides a configured budget
WITHOUT_MODEL: Final = 32_000  # tokens of ``auto`` without a model: all hosted models read as much
MOST: Final = 60_000  # tokens of ``auto``: beyond, models find less and cost more
REVIEW_TOKENS: Final = 16_000  # default budget of a review (rule T-14)
_RESERVE: Final = 10  # a tenth of the window stays free, for instructions and other tokenizers
_LEAST: Final = 4  # a prompt gets a quarter of the window at least: few answers are that long
_LONGEST_NAMESPACE: Final = 100  # of a file name's 255 bytes, with number and suffixes
_LONGEST_NAME: Final = 4_000  # characters of a path
_CANNOT_SWITCH_OFF: Final = (
    "redaction.send: a project cannot switch it off, secrets are replaced in what is sent: set it in your own "
    "configuration, or use --no-redact"
)
_CANNOT_HAVE_ASKED: Final = (
    "task.pick: only your own configuration can have a model asked; or use --pick"
)
_INSTRUCTIONS: Final = "the instructions"
_NOT_FOLLOWED: Final = (
    "prompt.instructions: only your own configuration can give some; or use --instructions"
)


@dataclass(frozen=True, slots=True)
class AskedViews:
    """How files are shown; ``None``: as configured."""

    strategy: str | None = None
    preset: str | None = None  # name of a context preset, which replaces the configured files
    generated: str | None = None  # view of generated files
    tier: int | None = None  # ``3`` for a Tier 3 prompt


def request_for(
    project: Project,
    *,
    views: AskedViews = AskedViews(),
    focus_files: Sequence[str | Path | Place] = (),
    with_history: bool = True,
    task: AskedTask | None = None,
    budget: AskedBudget | None = None,
    discussion: str | None = None,
    sending: bool = False,
    redact: bool | None = None,
    finish: Finish | None = None,
) -> Request:
    """Return the request for a prompt of a project.

    With a task or a budget and no configured files, all files not ignored by git are used (rule T-6).

    Args:
        project: The project.
        views: How files are shown; by default as configured.
        focus_files: With a task or a budget, lines or files to show always, where the ranking starts; else, and
            for tier 3, files to show in full in a Tier 3 prompt (rule T-2).
        with_history: Include the discussion.
        task: The task; by default ``[task] text``.
        budget: Token limit: ``32000``, ``"32k"``, ``"auto"``; by default the preset's, then ``[budget]``.
        discussion: The name of the discussion, ``""`` for the unnamed one; by default the unnamed one if it is
            configured, and ``"none"`` for no turns.
        sending: The prompt will be sent to a model, in a discussion that may be new.
        redact: Replace secrets; by default as in ``redaction_for``.
        finish: The user's texts; by default as configured, and none if ``sending``.

    Raises:
        ConfigError: The history's file cannot be used, the discussion does not exist, or the budget is invalid.
        PresetError: The preset does not exist.
        ScopeError: The configuration or the history's file is a link out of the project.
    """
    config = project.config
    applied = _preset(project, views)
    request = _configured_request(project, views, applied)
    wanted = _task_of(task, config.task)
    limit = _limit_of(config.budget, applied, views.tier) if budget is None else budget
    tokens = _budget_of(limit, config.budget)
    is_asked = wanted is not None or tokens is not None
    places = _places_of((*focus_files, *(wanted.focus if wanted else ())), request.base_dir)
    entries = request.entries
    whole_files = _whole_files(places) if views.tier == FOCUS_TIER or not is_asked else ()
    if is_asked:
        entries = entries or (() if applied else (EVERY,))
        wanted = replace(wanted or Task(), focus=places) if places else wanted
    name, turns = discussion_name(discussion or ""), DiscussionTurns()
    if with_history:
        wanted_name = None if discussion is None else name
        turns = discussion_turns(project, wanted_name, is_new=sending)
    redaction = redaction_for(project, sending=sending, is_asked=is_asked, wanted=redact)
    doubts = request.doubts
    if finish or not sending:
        finish, more = _finish_of(finish or Finish(), config.prompt, wanted, redaction)
        doubts += more
    return replace(
        request,
        entries=entries,
        history=(*turns.configured, *turns.written),
        focus_files=whole_files,
        doubts=doubts,
        redaction=redaction,
        task=wanted,
        budget=tokens,
        discussion=name,
        continues=turns.continues,
        finish=finish,
        is_overview=project.is_bare and wanted is None and tokens is not None,
    )


def default_budget(
    project: Project, views: AskedViews, task: Task | None, *, has_focus: bool, has_paths: bool
) -> Amount | None:
    """Return the default budget of ``run``, ``None`` if another one is configured or none is needed (rule T-3).

    A task and a review of changes have one, unless files are configured for the task. A folder without a configuration
    has an overview's, unless ``has_paths``: the user selects some.
    """
    config, preset = project.config, _preset(project, views)
    if _limit_of(config.budget, preset, views.tier) is not None:
        return None
    has_text = bool((task and task.text) or config.task.text.strip())
    is_review = task is not None and bool(task.since)
    has_files = preset is not None or bool(config.files.paths)
    if not is_review and (has_files or not (task or has_text)):
        is_overview = project.is_bare and not (preset or has_paths)
        return AUTO if is_overview else None
    has_seeds = has_text or has_focus or (task is not None and bool(task.symbols))
    return REVIEW_TOKENS if is_review and not has_seeds else WITHOUT_MODEL


def _preset(project: Project, views: AskedViews) -> "ContextPreset | None":
    name = views.preset or project.config.project.active_preset
    return find_preset(project, name) if name else None


def _configured_request(
    project: Project, views: AskedViews, applied: "ContextPreset | None"
) -> Request:
    """Return the request for a prompt without a task, a budget and a discussion."""
    config, folder, scope = project.config, project.folder, scope_of(project)
    check_within(project.path, scope)
    entries, screenshots = _listed(project, applied)
    strategy = views.strategy or config.project.aggregation_strategy
    title = config.project.name or folder.resolve().name
    # The project's name as the first part of file names.
    namespace = re.sub(r"[^A-Za-z0-9._-]+", "_", title)[:_LONGEST_NAMESPACE].strip("._")
    return Request(
        base_dir=folder / config.files.base_dir,
        entries=entries,
        exclude=tuple(config.files.exclude),
        screenshot_dir=folder / config.screenshots.base_dir,
        screenshots=screenshots,
        shown_from=folder,
        history=(),
        is_summary=Strategy.has_summaries(strategy, summary_only=config.project.summary_only),
        beads=config.project.execution_mode == BEADS_MODE,
        output_dir=project.prompts,
        namespace=config.output.namespace or namespace or "context",
        tier=views.tier,
        doubts=_doubts(config, strategy),
        scope=scope,
        generated=GeneratedView(views.generated or config.files.generated),
        title=title,
    )


def _listed(
    project: Project, applied: "ContextPreset | None"
) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """Return the files and screenshots of a preset.

    Without a preset they are the configured ones; for a folder without a configuration, all files.
    """
    if applied is not None:
        return tuple(map(Entry, applied.files)), tuple(applied.screenshots)
    if project.is_bare:
        return (EVERY,), ()
    config = project.config
    entries = (Entry(table.item(), table.tier) for table in config.files.paths)
    return tuple(entries), tuple(config.screenshots.paths)


def _task_of(asked: AskedTask | None, standing: TaskTable) -> Task | None:
    """Return the caller's task, else the configured one.

    A caller's task without a text takes the configured text (rule T-1).
    """
    if asked is None:
        return Task(standing.text) if standing.text.strip() else None
    task = Task(asked) if isinstance(asked, str) else asked
    has_only_seeds = not task.text and (task.focus or task.symbols or task.since)
    return replace(task, text=standing.text) if has_only_seeds else task


def _limit_of(
    table: BudgetTable, applied: "ContextPreset | None", tier: int | None
) -> Amount | str | None:
    """Return a preset's token limit, else the configured one: for Tier 3 its own (rule B-11)."""
    if applied is not None and applied.budget is not None:
        return applied.budget
    return table.tokens if tier != FOCUS_TIER or table.tier3 is None else table.tier3


def _budget_of(limit: AskedBudget | None, table: BudgetTable) -> Budget | None:
    """Return the budget with a token limit (rule B-1)."""
    if isinstance(limit, Budget):
        _check_budget(limit)
        return limit
    if limit is None or limit == NO_BUDGET:
        return None
    try:
        amount = parse_amount(limit)
    except ValueError as error:
        raise ConfigError(f"the budget {error}, not {limit!r}", key="budget") from None
    tokens = min(WITHOUT_MODEL, table.most) if amount == AUTO else amount
    return Budget(tokens, table.history, table.results, FileOrder(table.order))


def _check_budget(budget: Budget) -> None:
    if not 1 <= budget.tokens <= MOST_TOKENS:
        problem = f"the budget must have 1 to {MOST_TOKENS:,} tokens, not {budget.tokens!r}"
        raise ConfigError(problem, key="budget")
    for name, share in (("history", budget.history), ("results", budget.results)):
        if not 0 <= share <= 1:
            problem = f"the budget's share of {name} must be 0 to 1, not {share!r}"
            raise ConfigError(problem, key=f"budget.{name}")


def auto_budget(window: int | None, answer: int, *, most: int = MOST) -> int:
    """Return the budget ``auto`` for a model's context window, with room for its answer."""
    if window is None:
        return min(WITHOUT_MODEL, most)
    room = window - answer - window // _RESERVE
    return max(1, min(max(room, window // _LEAST), most))


def parse_place(text: str, folder: Path) -> Place:
    """Parse ``PATH[:LINE[-LINE]]``.

    If a file has the whole text as its name, the place is this file.
    """
    return Place(text) if os.path.lexists(os.path.join(folder, text)) else Place.parse(text)


def _places_of(focus: Sequence[str | Path | Place], base_dir: Path) -> tuple[Place, ...]:
    places = []
    for item in focus:
        place = item if isinstance(item, Place) else parse_place(str(item), base_dir)
        if Path(place.path).is_absolute():
            place = replace(place, path=display_path(place.path, base_dir))
        places.append(place)
    return tuple(places)


def _whole_files(places: Sequence[Place]) -> tuple[str, ...]:
    for place in places:
        if place.first:
            raise ConfigError(
                f"focus {place}: a Tier 3 context shows whole files: leave the lines out, or name a task or a budget "
                "and no tier",
                key="focus",
            )
    return tuple(place.path for place in places)


def _finish_of(
    finish: Finish, table: PromptTable, task: Task | None, redaction: Redaction
) -> tuple[Finish, tuple[str, ...]]:
    """Return the user's instructions and attachments, and doubts about them.

    Secrets in these texts are replaced before a budget can shorten the texts.
    """
    user, instructions, doubts = user_config().prompt, finish.instructions, list[str]()
    if not instructions and user.instructions:
        instructions = (read_instructions(user.instructions, global_config_path().parent),)
    elif not instructions and table.instructions:
        doubts.append(_NOT_FOLLOWED)
    clean: list[Given] = []
    for text_part in (*instructions, *finish.attached):
        text, warnings = redact_text(text_part.text, text_part.title, redaction)
        clean.append(text_part._replace(text=text))
        doubts += warnings if redaction.replaces else ()  # else the prompt itself warns
    number = len(instructions)
    finish = replace(
        finish,
        has_frame=finish.has_frame and user.frame and table.frame,
        changes=finish.changes or (task.since if task else ""),
        instructions=tuple(clean[:number]),
        attached=tuple(clean[number:]),
    )
    return finish, tuple(doubts)


def read_instructions(text: str, folder: Path = Path()) -> Given:
    """Return instructions: ``text`` itself, or the content of the file named ``text`` in ``folder``."""
    path = folder / text
    if "\n" in text or len(text) > _LONGEST_NAME:
        return Given(_INSTRUCTIONS, text)
    note((str(path.absolute()),))  # the file may be created later
    try:
        if path.is_file():
            return Given(_INSTRUCTIONS, read_text(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot read the instructions: {reason}", path=text) from None
    if text.isascii() and len(text.split()) < 2:
        raise ConfigError("no such file of instructions", path=text)
    return Given(_INSTRUCTIONS, text)


def _doubts(config: Config, strategy: str) -> tuple[str, ...]:
    """Return warnings about unknown values, for which defaults are used (M-30), and about unused settings."""
    words = {
        "aggregation_strategy": (strategy, [value.value for value in Strategy], Strategy.AUTO),
        "execution_mode": (config.project.execution_mode, ["native", BEADS_MODE], "native"),
    }
    doubts = [
        f"{key}: unknown value {word[:100]!r}, using {usual}: {did_you_mean(word, values)}"
        for key, (word, values, usual) in words.items()
        if word not in ("", *values)
    ]
    if not config.redaction.send:
        doubts.append(_CANNOT_SWITCH_OFF)
    if config.task.pick:
        doubts.append(_CANNOT_HAVE_ASKED)
    return tuple(doubts)
