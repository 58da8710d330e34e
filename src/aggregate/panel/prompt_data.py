"""The prompt's data for the page, and the file table."""

import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from aggregate.base.disk.reading import open_regular
from aggregate.base.files import ViewMode
from aggregate.base.task_budget import FileChoice
from aggregate.base.text import common_prefix
from aggregate.panel.composer import ComposedDraft
from aggregate.project.configuration import Project, user_config
from aggregate.prompt import File
from aggregate.prompt.audit import told_reasons
from aggregate.prompt.document import Section
from aggregate.sending import LoggedRequest

if TYPE_CHECKING:
    from aggregate.sending.cache import HashedSegment

_MOST_LEFT_OUT: Final = 300  # listed files without content; others are found in the tree
_MOST_PLANNED: Final = 20_000  # segments with cache breakpoints; no provider takes more
_MILLION: Final = 1_000_000


class CacheMarks(NamedTuple):
    breakpoints: tuple[int, ...] = ()  # lines after a cache breakpoint
    kept_until: int = 0  # last line of the unchanged prefix
    sentence: str = ""
    changed: frozenset[str] = frozenset()  # files changed since the earlier request


def cache_marks(composed: ComposedDraft, earlier: LoggedRequest | None) -> CacheMarks:
    """Return the default model's breakpoints and the unchanged beginning."""
    # Loaded late: the page shows the files meanwhile.
    from aggregate.sending import cache_policy
    from aggregate.sending.cache import HashedPrompt, compare_prefixes, plan_request

    segments = composed.tokens.segments
    if len(segments) > _MOST_PLANNED:
        return CacheMarks()
    hashed = HashedPrompt.of(composed.composition.prompt, segments)
    lines = composed.lines
    policy = cache_policy(*_usual_recipient(composed.project))
    # Segment numbers include the instructions as the first segment.
    numbers = plan_request(hashed, policy).layout.breakpoints
    breakpoints = tuple(lines.last_line(number - 2) + 1 for number in numbers if number >= 2)
    if earlier is None:
        return CacheMarks(breakpoints)
    new, old = hashed, earlier.prompt
    shared = common_prefix(old.digests, new.digests)
    old_digests = {part.source: part.digest for part in old.segments if _is_file(part)}
    files = [part for part in new.segments if _is_file(part) and part.source in old_digests]
    changed = frozenset(part.source for part in files if part.digest != old_digests[part.source])
    if len(changed) > len(files) / 2:  # says little about one file
        changed = frozenset()
    kept_until = lines.last_line(shared - 2) if shared >= 2 else 0
    return CacheMarks(breakpoints, kept_until, compare_prefixes(old, new).sentence, changed)


def _usual_recipient(project: Project) -> tuple[str, str]:
    """Return the provider and model used without options."""
    from aggregate.sending.clients import PROVIDERS, provider_of_model

    for table in (project.config.send, user_config().send):
        if table.provider or table.model:
            provider = table.provider or provider_of_model(table.model)
            default = PROVIDERS[provider].model if provider in PROVIDERS else ""
            return provider, table.model or default
    return "anthropic", PROVIDERS["anthropic"].model


def _is_file(part: "HashedSegment") -> bool:
    return part.section == Section.FILES and bool(part.source)


def prompt_data(
    composed: ComposedDraft | None, marks: CacheMarks, revision: int, error: str
) -> dict[str, Any]:
    """Return the page's data of a prompt, except its text."""
    hidden: list[FileChoice] = []
    if composed is not None and composed.request.budget is not None:
        last = len(composed.choices) + 1
        hidden = [choice for choice in composed.choices.values() if choice.level.is_hidden]
        hidden.sort(key=lambda choice: choice.rank or last)
    return {
        "revision": revision,
        **(composed.size if composed else dict.fromkeys(("tokens", "bytes", "lines"), 0)),
        "sections": composed.lines.sections() if composed else [],
        "breakpoints": list(marks.breakpoints),
        "kept_until": marks.kept_until,
        "kept_sentence": marks.sentence,
        "not_entered": [_hidden_file(choice) for choice in hidden[:_MOST_LEFT_OUT]],
        "not_entered_count": len(hidden),
        "error": error,
    }


def _hidden_file(choice: FileChoice) -> dict[str, Any]:
    reasons = [told_reasons(choice.reasons)]
    if choice.next:
        reasons.append(f"a budget larger by a tenth would show it: {choice.next.value}")
    return {
        "path": choice.path,
        "level": choice.level.value,  # name or left out
        "score": choice.score,
        "why": "; ".join(filter(None, reasons)) or "no evidence",
    }


def beside_prompt(model: dict[str, Any], size: Mapping[str, int] | None) -> dict[str, Any]:
    """Add the prompt's token count and price to a model."""
    if size is None:
        return {**model, "tokens": None, "cost": None}
    tokens = round(size["tokens"] * model["ratio"])
    price = model["input"]
    cost = None if price is None else round(tokens * price / _MILLION, 6)
    return {**model, "tokens": tokens, "cost": cost}


_CHARACTERS: Final = 4  # of a token, about, to estimate uncounted files
_SCORE_DIGITS: Final = 6
_PROBE: Final = 8_192  # bytes of a file searched for a NUL, as in git
# Why a file matched by a glob is not shown.
_OMITTED: Final[Mapping[str, str]] = {
    "binary": "binary: globs skip it",
    "generated": "generated: globs only list it",
}

# Identity of a file's content: inode, size and both times; programs cannot set the change time.
_Stamp = tuple[int, ...]


class FileRow(NamedTuple):
    view: str  # view or level in the prompt, "" if not shown
    mode: str  # view of its entry, "" without one
    tokens: int
    whole: int  # tokens of the whole file, 0 if unknown
    score: float | None
    # The first of error, stale, secret, changed since the last prompt, binary, generated
    state: str
    why: str


class FileRows:
    """The table's rows of all files, updated after each prompt; not thread-safe."""

    def __init__(self) -> None:
        self.listed: Mapping[str, File] = {}
        self._rows: Mapping[str, FileRow] = {}
        self._first = self._revision = 0
        self._since: dict[str, int] = {}  # revision of the last change
        self._removed: dict[str, int] = {}
        self._sizes: Mapping[str, int] = {}

    def list(self, listed: Mapping[str, File]) -> None:
        self._sizes = _file_sizes(listed)
        self.listed = listed

    def measure(self, paths: Iterable[str]) -> None:
        touched = {path: self.listed[path] for path in paths if path in self.listed}
        self._sizes = {**self._sizes, **_file_sizes(touched)}

    def show_names(self, revision: int) -> None:
        """Fill the rows with names and sizes before the first prompt."""
        rows = {path: FileRow("", "", 0, size, None, "", "") for path, size in self._sizes.items()}
        self.show(rows, revision)

    def show(self, rows: Mapping[str, FileRow], revision: int) -> None:
        if not self._rows:
            self._first = revision
        for path, row in rows.items():
            if self._rows.get(path) != row:
                self._since[path] = revision
                self._removed.pop(path, None)
        for path in self._rows.keys() - rows.keys():
            self._since.pop(path, None)
            self._removed[path] = revision
        self._rows, self._revision = rows, revision

    def data(self, since: int | None) -> dict[str, Any]:
        """Return the table by columns, or only the rows changed since a revision."""
        is_full = since is None or not self._first <= since <= self._revision
        rows, removed = self._rows, list[str]()
        if since is not None and not is_full:
            rows = {path: row for path, row in rows.items() if self._since[path] > since}
            removed = sorted(path for path, revision in self._removed.items() if revision > since)
        columns = zip(*rows.values(), strict=True) if rows else [()] * len(FileRow._fields)
        return {
            "revision": self._revision,
            "full": is_full,
            "path": [*rows],
            **{name: [*column] for name, column in zip(FileRow._fields, columns, strict=True)},
            "removed": removed,
        }

    def rows(self, composed: ComposedDraft, marks: CacheMarks) -> Mapping[str, FileRow]:
        """Return the rows of all files for a prompt."""
        rendered = {file.path: file for file in composed.composition.files}
        skipped = {  # by a glob, without a budget
            path: _omission(file.file, _stamp(file.file))
            for path, file in composed.selected.items()
            if composed.request.budget is None
            and file.by_glob
            and path not in rendered
            and not file.problem
        }
        rows = {}
        for path in sorted({*self.listed, *composed.selected}, key=_tree_order):
            state = "changed" if path in marks.changed else skipped.get(path, "")
            size = self._sizes.get(path, 0)
            rows[path] = _row(path, composed, rendered.get(path), state, size)
        return rows


@lru_cache(maxsize=100_000)
def _omission(file: str, _unchanged: _Stamp) -> str:
    return "binary" if _is_binary(file) else "generated"


def _row(
    path: str, composed: ComposedDraft, rendered: File | None, state: str, size: int
) -> FileRow:
    """Return the row of a file; ``state`` is replaced by a worse one."""
    file, choice = composed.selected.get(path), composed.choices.get(path)
    tokens = composed.tokens.files.get(path, 0)
    mode = view = ""
    if file is not None:
        mode = file.view_mode.value if file.item.auto_aggregate else "out"
    if composed.request.budget is not None and choice is not None:
        view = "" if choice.level.is_hidden else choice.level.value
        size = choice.size or size
    elif tokens and rendered is not None:
        view = rendered.view_mode.value
    if view == ViewMode.FULL and tokens:
        size = tokens
    score, why = None, _OMITTED.get(state, "")
    if choice is not None:
        score = None if choice.score is None else round(choice.score, _SCORE_DIGITS)
        why = "pinned: shown at any cost" if choice.pinned else told_reasons(choice.reasons) or why
    if rendered is not None and rendered.is_error:
        state, why = "error", rendered.view.text.split("\n", 1)[0]
    elif file is not None and file.problem:
        state, why = "error", file.problem
    elif rendered is not None and _has_stale(rendered):
        state = "stale"
    elif rendered is not None and rendered.source.secrets:
        state = "secret"
    return FileRow(view, mode, tokens, size, score, state, why)


def _has_stale(file: File) -> bool:
    if file.view_mode is not ViewMode.CUSTOM:
        return False
    heads = (line for line in file.view.text.split("\n") if line.startswith("--- [Slice"))
    return any(": orphaned: " in head or ": ambiguous: " in head for head in heads)


def _file_sizes(listed: Mapping[str, File]) -> dict[str, int]:
    """Return the estimated tokens of whole files, in the table's order."""
    sizes: dict[str, int] = {}
    for path in sorted(listed, key=_tree_order):
        stamp = _stamp(listed[path].file)
        sizes[path] = stamp[1] // _CHARACTERS if stamp else 0
    return sizes


def _tree_order(path: str) -> str:
    """Return a sort key for paths that keeps the files of a folder together."""
    return path.replace("/", "\0")


def _stamp(file: str) -> _Stamp:
    try:
        info = os.stat(file)  # noqa: PTH116 - runs for each file
    except (OSError, ValueError):
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _is_binary(file: str) -> bool:
    try:
        descriptor, _ = open_regular(file)
        with os.fdopen(descriptor, "rb") as opened:
            return b"\0" in opened.read(_PROBE)
    except (OSError, ValueError):
        return False
