"""The prompt for the page, and the table of all files that could enter it: what is shown, what it costs, and why."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from aggregate.base.disk.reading import open_regular
from aggregate.base.files import RenderedFile, ViewMode
from aggregate.base.request import FileChoice
from aggregate.base.text import common_prefix
from aggregate.panel.composing import ComposedDraft
from aggregate.prompt import ResolvedFile
from aggregate.prompt.audit import told_reasons
from aggregate.prompt.document import Section
from aggregate.sending import LoggedRequest

# Files that are told of one by one: who scrolls further looks for one by its name, in the tree.
_MOST_LEFT_OUT: Final = 300
# Segments up to which breakpoints are planned: beyond, no provider takes the prompt.
_MOST_PLANNED: Final = 20_000
_MILLION: Final = 1_000_000


class CacheMarks(NamedTuple):
    breakpoints: tuple[int, ...] = ()  # lines before which one would be set
    kept_until: int = 0  # the last line of what is as it was
    sentence: str = ""
    changed: frozenset[str] = frozenset()  # files that are not as they were


def cache_marks(composed: ComposedDraft, earlier: LoggedRequest | None) -> CacheMarks:
    """Return what the cache of the model that ``send`` asks would do with a prompt, and what it still holds of it."""
    # The providers take a while to load: the page has the files meanwhile.
    from aggregate.sending.cache import HashedPrompt, compare_prefixes, plan_request
    from aggregate.sending.clients import cache_policy, usual_recipient

    segments = composed.tokens.segments
    if len(segments) > _MOST_PLANNED:
        return CacheMarks()
    hashed = HashedPrompt.of(composed.composition.prompt, segments)
    lines = composed.lines
    policy = cache_policy(*usual_recipient(composed.project))
    # Places count the instructions as the first segment.
    places = plan_request(hashed, policy).layout.breakpoints
    breakpoints = tuple(lines.last_line(place - 2) + 1 for place in places if place >= 2)
    if earlier is None:
        return CacheMarks(breakpoints)
    now, then = hashed.fingerprint, earlier.fingerprint
    shared = common_prefix(then.digests, now.digests)
    before = {each.source: each.digest for each in then.segments if each.section == Section.FILES}
    changed = frozenset(
        each.source
        for each in now.segments
        if each.section == Section.FILES
        and each.source
        and before.get(each.source, each.digest) != each.digest
    )
    kept_until = lines.last_line(shared - 2) if shared >= 2 else 0
    return CacheMarks(breakpoints, kept_until, compare_prefixes(then, now).sentence, changed)


def prompt_data(
    composed: ComposedDraft | None, marks: CacheMarks, revision: int, error: str
) -> dict[str, Any]:
    """Return the prompt as the page takes it, without its text; all is empty where there is none."""
    out: list[FileChoice] = []
    if composed is not None and composed.request.budget is not None:
        last = len(composed.choices) + 1
        out = [choice for choice in composed.choices.values() if choice.level.is_hidden]
        out.sort(key=lambda choice: choice.rank or last)
    return {
        "revision": revision,
        "tokens": composed.tokens.document if composed else 0,
        "bytes": composed.lines.size if composed else 0,
        "lines": composed.lines.count if composed else 0,
        "sections": composed.lines.sections() if composed else [],
        "breakpoints": list(marks.breakpoints),
        "kept_until": marks.kept_until,
        "kept_sentence": marks.sentence,
        "not_entered": [_not_entered(choice) for choice in out[:_MOST_LEFT_OUT]],
        "not_entered_count": len(out),
        "error": error,
    }


def _not_entered(choice: FileChoice) -> dict[str, Any]:
    room = f"a tenth more of the budget would show it: {choice.next.value}" if choice.next else ""
    return {
        "path": choice.path,
        "level": choice.level.value,  # by its name alone, or left out
        "score": choice.score,
        "why": "; ".join(part for part in (told_reasons(choice.reasons), room) if part)
        or "nothing speaks for it",
    }


def beside_prompt(model: dict[str, Any], size: dict[str, int] | None) -> dict[str, Any]:
    """Return a model with the tokens of a prompt by its own count, and what they cost as input."""
    own = None if size is None else round(size["tokens"] * model["ratio"])
    is_priced = own is not None and model["input"] is not None
    price = round((own or 0) * (model["input"] or 0) / _MILLION, 6) if is_priced else None
    return {**model, "tokens": own, "cost": price}


# Of a token, about; where a file was not counted its size tells roughly what it costs.
_CHARACTERS: Final = 4
_SCORE_DIGITS: Final = 6  # Of a score: more would only make the table longer
_PROBE: Final = 8_192  # Bytes of a file in which a NUL is looked for, as git does
# Why a file that a glob stands for is not shown.
_OMITTED: Final[Mapping[str, str]] = {
    "binary": "binary: a glob leaves it out",
    "generated": "generated: a glob leaves it to its list",
}

# What a file is known again by: its inode, size and both of its times, one of which nobody can set.
_Stamp = tuple[int, ...]


class Row(NamedTuple):
    view: str  # the view or level that the prompt shows, "" where it is out
    mode: str  # the view that its entry asks for, "" where none names it
    tokens: int
    whole: int  # of the whole file, 0 where not known yet
    score: float | None
    # The first of error, stale, secret, changed since the last prompt, binary, generated
    state: str
    why: str


class FileTable:
    """The rows of all files, kept from one prompt to the next; for one thread at a time."""

    def __init__(self) -> None:
        self.listed: Mapping[str, ResolvedFile] = {}
        self._rows: Mapping[str, Row] = {}
        self._first = self._revision = 0
        self._since: dict[str, int] = {}
        self._removed: dict[str, int] = {}
        self._sizes: Mapping[str, int] = {}
        self._shown_sizes: Mapping[str, int] | None = None
        self._omitted: dict[str, tuple[_Stamp, str]] = {}

    def list(self, listed: Mapping[str, ResolvedFile]) -> None:
        self._sizes = _file_sizes(listed)
        self.listed = listed

    def measure(self, paths: Iterable[str]) -> None:
        touched = {path: self.listed[path] for path in paths if path in self.listed}
        self._sizes = {**self._sizes, **_file_sizes(touched)}

    def show_names(self, revision: int) -> None:
        """Let the page see names and sizes of the files, before there is a prompt."""
        rows = {path: Row("", "", 0, size, None, "", "") for path, size in self._sizes.items()}
        self.show(rows, revision)
        self._shown_sizes = None

    def show(self, rows: Mapping[str, Row], revision: int) -> None:
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
        self._shown_sizes = self._sizes

    def data(self, since: int | None) -> dict[str, Any]:
        """Return the table column by column: whole, or what has changed since a revision that the page has."""
        is_full = since is None or not self._first <= since <= self._revision
        rows, removed = self._rows, list[str]()
        if since is not None and not is_full:
            rows = {path: row for path, row in rows.items() if self._since[path] > since}
            removed = sorted(path for path, gone in self._removed.items() if gone > since)
        columns = zip(*rows.values(), strict=True) if rows else [()] * len(Row._fields)
        return {
            "revision": self._revision,
            "full": is_full,
            "path": [*rows],
            **{name: [*column] for name, column in zip(Row._fields, columns, strict=True)},
            "removed": removed,
        }

    def rows(
        self, composed: ComposedDraft, marks: CacheMarks, last: ComposedDraft | None = None
    ) -> Mapping[str, Row]:
        """Return the rows of all files beside a prompt."""
        shown = {file.path: file for file in composed.composition.files}
        omitted = self._look_at_omitted(composed, shown)

        def row(path: str) -> Row:
            state = "changed" if path in marks.changed else omitted.get(path, "")
            return _row(path, composed, shown.get(path), state, self._sizes.get(path, 0))

        if (
            last is not None
            and last.request.budget is not None
            and composed.request.budget is not None
            and self._sizes is self._shown_sizes
            and last.selected.keys() == composed.selected.keys()
        ):
            # While a slider moves or one view is set, nothing is shown of most files, as before.
            return {
                path: known if _is_hidden_in_both(path, composed, last) else row(path)
                for path, known in self._rows.items()
            }
        paths = {*self.listed, *composed.selected}
        return {path: row(path) for path in sorted(paths, key=_tree_order)}

    def _look_at_omitted(
        self, composed: ComposedDraft, shown: Mapping[str, RenderedFile]
    ) -> Mapping[str, str]:
        """Return what the files are that a glob stands for and that a prompt without a budget does not show.

        Each is looked at once, and again where it has changed.
        """
        if composed.request.budget is not None:
            return {}
        states: dict[str, tuple[_Stamp, str]] = {}
        for path, file in composed.selected.items():
            if not file.by_glob or path in shown or file.problem:
                continue
            stamp = _stamp(file.file)
            last, state = self._omitted.get(path, ((), ""))
            if not state or last != stamp:
                state = "binary" if _is_binary(file.file) else "generated"
            states[path] = stamp, state
        self._omitted = states
        return {path: state for path, (_, state) in states.items()}


def _row(
    path: str, composed: ComposedDraft, shown: RenderedFile | None, state: str, size: int
) -> Row:
    """Return the row of a file, of which ``size`` tokens are estimated; it has ``state`` where nothing is worse."""
    file, choice = composed.selected.get(path), composed.choices.get(path)
    tokens = composed.tokens.files.get(path, 0)
    mode = view = ""
    if file is not None:
        mode = file.view_mode.value if file.item.auto_aggregate else "out"
    if composed.request.budget is not None and choice is not None:
        view = "" if choice.level.is_hidden else choice.level.value
        size = choice.size or size
    elif tokens and shown is not None:
        view = shown.view_mode.value
    if view == ViewMode.FULL and tokens:
        size = tokens
    score, why = None, _OMITTED.get(state, "")
    if choice is not None:
        score = None if choice.score is None else round(choice.score, _SCORE_DIGITS)
        why = (
            "pinned: shown whatever it costs"
            if choice.pinned
            else told_reasons(choice.reasons) or why
        )
    if shown is not None and shown.error:
        state, why = "error", shown.content.split("\n", 1)[0]
    elif file is not None and file.problem:
        state, why = "error", file.problem
    elif shown is not None and _has_stale(shown):
        state = "stale"
    elif shown is not None and shown.secrets:
        state = "secret"
    return Row(view, mode, tokens, size, score, state, why)


def _is_hidden_in_both(path: str, now: ComposedDraft, earlier: ComposedDraft) -> bool:
    """Tell whether two prompts of the same files show nothing of a file, and tell the same of it."""
    if now.selected.get(path) != earlier.selected.get(path):
        return False
    new, old = now.choices.get(path), earlier.choices.get(path)
    if new is old or new is None or old is None:
        return new is old
    told = (new.reasons, new.score, new.size, new.pinned)
    is_hidden = new.level.is_hidden and old.level.is_hidden
    return is_hidden and told == (old.reasons, old.score, old.size, old.pinned)


def _has_stale(file: RenderedFile) -> bool:
    if file.view_mode is not ViewMode.CUSTOM:
        return False
    heads = (line for line in file.content.split("\n") if line.startswith("--- [Slice"))
    return any(": orphaned: " in head or ": ambiguous: " in head for head in heads)


def _file_sizes(listed: Mapping[str, ResolvedFile]) -> dict[str, int]:
    """Return the tokens of each file as a whole, estimated from its bytes, in the order of the tree."""
    sizes: dict[str, int] = {}
    for path in sorted(listed, key=_tree_order):
        stamp = _stamp(listed[path].file)
        sizes[path] = stamp[1] // _CHARACTERS if stamp else 0
    return sizes


def _tree_order(path: str) -> str:
    """Return what sorts paths as a tree shows them: the files of a folder stand together."""
    return path.replace("/", "\0")


def _stamp(file: str) -> _Stamp:
    try:
        info = os.stat(file)  # noqa: PTH116 - runs for each file
    except (OSError, ValueError):  # it is gone
        return ()
    return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns


def _is_binary(file: str) -> bool:
    try:
        descriptor, _ = open_regular(file)
        with os.fdopen(descriptor, "rb") as opened:
            return b"\0" in opened.read(_PROBE)
    except (OSError, ValueError):
        return False
