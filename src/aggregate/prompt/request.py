"""Everything that one prompt is made of, resolved: what the configuration, a preset and the caller ask for."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.values import (
    AS_THEY_ARE,
    Budget,
    Entry,
    GeneratedView,
    Redaction,
    Scope,
    SentFile,
    Task,
)
from aggregate.prompt.layout import Strategy
from aggregate.prompt.redact_prompt import redact_words

if TYPE_CHECKING:
    from aggregate.prompt.sections.subagent_results import Results

_REPLACED = "task: secrets in its words are replaced: --no-redact keeps them"


@dataclass(frozen=True, slots=True)
class Request:
    """What to compose.

    Attributes:
        base_dir: Where the files' relative paths begin.
        screenshot_dir: Where the screenshots' relative paths begin.
        shown_from: The folder that screenshots' paths are shown relative to.
        summary_only: For ``AUTO``: summaries.
        focus_files: Focus files; any, or tier 3, make it a Tier 3 prompt.
        tier: ``3`` for a Tier 3 prompt.
        doubts: What is odd about what was asked for, one sentence each.
        results: Results of sub-agents to show, large values already compacted.
        redaction: What is a secret in all of this, and whether it is replaced; in the words of the task it is at once.
        kept: With a budget: the files of the discussion's last prompt, in the order in which they were sent (rule B-9).
        results_dir: Where values of results are written that fold to references, ``None`` where none may.
        discussion: The name of the discussion that ``history`` is of, ``""`` for the default one.
        continues: The name of the discussion that it goes on from, such as one that it was forked from.
    """

    base_dir: Path
    entries: tuple[Entry, ...]
    exclude: tuple[str, ...]
    screenshot_dir: Path
    screenshots: tuple[str, ...]
    shown_from: Path
    history: tuple[object, ...]
    strategy: Strategy
    summary_only: bool
    beads: bool
    output_dir: Path
    namespace: str
    focus_files: tuple[str, ...] = ()
    tier: int | None = None
    doubts: tuple[str, ...] = ()
    results: "tuple[Results, ...]" = ()
    scope: Scope = field(default_factory=Scope)
    redaction: Redaction = AS_THEY_ARE
    generated: GeneratedView = GeneratedView.NAME
    task: Task | None = None
    budget: Budget | None = None
    kept: tuple[SentFile, ...] = ()
    results_dir: Path | None = None
    discussion: str = ""
    continues: str | None = None

    def __post_init__(self) -> None:
        # Here, so that no ranking, account or prompt can be made of words that are to be replaced.
        task = self.task or Task()
        words = (task.text, task.since, *task.symbols, *self.focus_paths)
        clean = redact_words(words, self.redaction) if any(words) else {}
        if clean:

            def said(word: str) -> str:
                return clean.get(word, word)

            places = tuple(replace(place, path=said(place.path)) for place in task.focus)
            symbols = tuple(map(said, task.symbols))
            task = Task(said(task.text), places, symbols, said(task.since))
            object.__setattr__(self, "focus_files", tuple(map(said, self.focus_files)))
            object.__setattr__(self, "task", self.task and task)
            object.__setattr__(self, "doubts", (*self.doubts, _REPLACED))

    @property
    def written_in(self) -> Path | None:
        """The folder that ``output_dir`` must lie in, links resolved; ``None`` for anywhere."""
        return None if self.scope.allow_outside else Path(self.scope.root)

    @property
    def focus_paths(self) -> tuple[str, ...]:
        """What names the files that the user points at, each once."""
        places = self.task.focus if self.task else ()
        return tuple(dict.fromkeys((*self.focus_files, *(place.path for place in places))))

    @property
    def is_audited(self) -> bool:
        """Whether an account is left beside the prompt: for a task or a budget (rule A-1)."""
        return self.task is not None or self.budget is not None

    @property
    def is_tier3(self) -> bool:
        """Whether the prompt is one for a Tier 3 worker."""
        return self.tier == 3 or bool(self.focus_files)
