"""The prompt for the page: what folds, where a cache would be written and read, and what stays out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from aggregate.base.values import FileChoice
from aggregate.panel.composing import ComposedDraft
from aggregate.panel.config_draft import ConfigDraft
from aggregate.panel.protocol import NotEnteredData, PromptData
from aggregate.prompt import Request, ResolvedFile
from aggregate.sending import LoggedRequest, recent_requests

_MOST_LEFT_OUT = 300
"""Files that are told of one by one: who scrolls further looks for one by its name, in the tree."""


class CacheMarks(NamedTuple):
    """What a cache does with a prompt.

    Attributes:
        kept_until: The last line of what is as it was.
        changed: Files that are not as they were.
    """

    breakpoints: tuple[int, ...] = ()
    kept_until: int = 0
    sentence: str = ""
    changed: frozenset[str] = frozenset()


def last_logged(request: Request) -> LoggedRequest | None:
    """Return the prompt that was sent or written last."""
    return next(recent_requests(request.output_dir, request.namespace), None)


def prompt_data(composed: ComposedDraft, marks: CacheMarks, revision: int) -> PromptData:
    """Return the prompt as the page takes it."""
    out = left_out(composed)
    return {
        "revision": revision,
        "tokens": composed.tokens.document,
        "bytes": composed.lines.size,
        "lines": composed.lines.count,
        "sections": composed.lines.sections(),
        "breakpoints": list(marks.breakpoints),
        "kept_until": marks.kept_until,
        "kept_sentence": marks.sentence,
        "not_entered": [_not_entered(choice) for choice in out[:_MOST_LEFT_OUT]],
        "not_entered_count": len(out),
        "error": "",
    }


def no_prompt(revision: int, error: str) -> PromptData:
    """Return what stands for a prompt that is not there."""
    return {
        "revision": revision,
        "tokens": 0,
        "bytes": 0,
        "lines": 0,
        "sections": [],
        "breakpoints": [],
        "kept_until": 0,
        "kept_sentence": "",
        "not_entered": [],
        "not_entered_count": 0,
        "error": error,
    }


def left_out(composed: ComposedDraft) -> Sequence[FileChoice]:
    """Return the candidates that a budget leaves out, the most relevant first."""
    if composed.request.budget is None:
        return ()
    out = [choice for choice in composed.choices.values() if choice.level.is_hidden]
    last = len(composed.choices) + 1
    return sorted(out, key=lambda choice: choice.rank or last)


def _not_entered(choice: FileChoice) -> NotEnteredData:
    reasons = "; ".join(f"{reason.kind}: {reason.matched}" for reason in choice.reasons[:2])
    room = f"a tenth more of the budget would show it: {choice.next.value}" if choice.next else ""
    return {
        "path": choice.path,
        "level": choice.level.value,
        "score": choice.score,
        "why": "; ".join(part for part in (reasons, room) if part) or "nothing speaks for it",
    }


@dataclass(frozen=True, slots=True)
class View:
    """What the page sees at one moment; replaced as a whole.

    Attributes:
        composed: The last prompt that could be composed.
        error: Why the newest draft cannot be composed, ``""`` where it can.
        marks: What a cache does with it.
    """

    composed: ComposedDraft | None = None
    revision: int = 0
    error: str = ""
    marks: CacheMarks = field(default_factory=CacheMarks)
    listed: Mapping[str, ResolvedFile] = field(default_factory=dict)


class SessionState(NamedTuple):
    """A session at one moment, whatever other threads do meanwhile.

    Attributes:
        unsaved: The edits that were not saved when the panel ended last, in a sentence.
    """

    revision: int
    edited: ConfigDraft
    view: View
    unsaved: str
