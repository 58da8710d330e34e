"""Show lines of files up to a token limit, and repeat the files of a discussion.

Lines are shown step by step in a given order. The price of a step is an upper bound of its added tokens, and does not
depend on the limit. Of the first step beyond the limit only the first lines are shown. So a larger limit shows all
lines of a smaller limit.

A provider's cache matches a prompt up to the first byte that differs. A fit for each new question would show nearly
every file at another level and make the cache useless. So files stay as they were first sent and the discussion follows
them (rule B-9). Additional files of a question come after the discussion, and the next question replaces them. Room for
them is made at the end of the files, seldom and for several turns: the last file leaves first, if the new one scores
more than twice as much. A likely file that leaves is shown after the discussion.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain, compress, islice
from typing import Final, NamedTuple

from aggregate.base.files import Run, as_runs
from aggregate.base.task_budget import FileChoice, Level, SentFile
from aggregate.prompt.fit.entry_order import Step, StepOrder
from aggregate.prompt.fit.opened_file import OpenedFile, ShownLines

_MARGIN = 1  # Tokens for each run of lines: two lines may have more tokens apart than together
# A statement cannot be cut. It enters only after this multiple of its tokens is spent, so that the last one that does
# not fit leaves at most a fortieth of the budget unused, half of the allowed rest (rule B-6).
_PATIENCE = 40
# Tokens of a statement that need not wait: a fortieth of 8,000, where the rule begins to hold. The number of characters
# is certainly below it.
_SHORT, _FEW_CHARACTERS = 200, 400
# A statement that would end before so many tokens waits only for this multiple of its tokens beyond ``_SHORT``: it has
# entered before the rule begins to hold.
_SOON, _SOON_PATIENCE = 6_500, 4
# Tokens and fraction of the limit: if no other step is left, a statement is cut rather than leave more unused (rule
# B-6).
_MAX_UNUSED, _MAX_UNUSED_PART = 100, 0.02
# Lines with a word below which a file in part says no more than its name in the tree of an overview.
_FEWEST_LINES: Final = 3
_WORD: Final = re.compile(r"\w")
# A sent file leaves only if its score is below this fraction of the new file's score (rule B-9).
BELOW: Final = 0.5
# Fraction of the room for a new question. With it at least four fifths of a prompt stay, and it contains three quarters
# of the content of a fit for the question alone (four projects, simulation/JOURNAL.md).
FRESH: Final = 0.16
# No file leaves while this fraction of the question's room is free: all files after it lose their cache entries, so
# room should be made seldom, and for several turns.
ENOUGH: Final = 0.7
# Minimum tokens for a question, up to half of the room: its needs do not shrink with the budget, and the likeliest
# 5,000 tokens cover most of them.
LEAST_FRESH: Final = 5_000
# Fraction of the room, at the end of the files, where files may leave; at least the question's room. A file at the
# front would invalidate everything after it. A pin may replace any file.
MOVABLE: Final = 0.25
# A file with this fraction of all scores is the question's subject: it leaves only after all less likely ones. At most
# ten files can be so likely.
LIKELY: Final = 0.1
# Tokens of an addition to a file beyond the new lines: heading, fence, and three lines of context on each side.
_HUNK_TOKENS: Final = 40
# Larger for levels that show more.
_AMOUNTS: Final = {level: -index for index, level in enumerate(Level)}


class _Entering(NamedTuple):
    """A step with its hidden lines."""

    step: Step
    state: ShownLines
    runs: list[Run]
    opens: bool  # the file has no visible lines yet, so the price includes its frame
    is_last: bool = False  # all other steps wait


@dataclass(slots=True)
class Fit:
    """Shows lines of files, step by step, until a token limit is reached."""

    order: StepOrder
    open_file: Callable[[int], OpenedFile | None]
    count: Callable[[str], int]
    shown: dict[int, ShownLines] = field(default_factory=dict)
    spent: int = 0
    is_exhausted: bool = False
    _steps: Iterator[Step] = field(init=False)
    _waiting: tuple[_Entering, int] | None = field(init=False, default=None)
    _postponed: list[tuple[int, int, Step]] = field(init=False, default_factory=list)
    _unusable: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._steps = iter(self.order)

    def marks(self) -> dict[int, bytes]:
        return {number: bytes(state.marks) for number, state in self.shown.items()}

    def pin(self, file: int, runs: Iterable[Run]) -> None:
        if state := self._state(file):
            step = Step(file, tuple(runs), is_body=True)
            entering = _Entering(step, state, state.new_runs(step.runs), state.is_empty)
            self._take(entering, self._price(entering, entering.runs))

    def keep(self, file: int, runs: Iterable[Run]) -> None:
        """Show lines of an earlier prompt without counting their tokens.

        The caller has subtracted these tokens from the limit.
        """
        if state := self._state(file):
            end = len(state.marks)
            state.show((first, min(last, end)) for first, last in runs if 1 <= first <= end)

    def drop_bare(self) -> None:
        """Hide the files that show hardly more than their names, and free their tokens."""
        for number, state in [*self.shown.items()]:
            shown = compress(state.opened.texts, state.marks)
            if not state.is_complete and sum(map(bool, map(_WORD.search, shown))) < _FEWEST_LINES:
                del self.shown[number]
                self._unusable.add(number)

    def advance(self, limit: int) -> None:
        """Take steps until ``limit`` tokens are spent.

        Of the step exceeding the limit show the first lines.
        """
        if self._waiting:
            (entering, self.spent), self._waiting = self._waiting, None
            if not self._try(entering, limit):
                return
        while next_step := self._next_step():
            step, patience = next_step
            is_last = patience > self.spent
            state = self._state(step.file)
            runs = state.with_small_gaps(state.new_runs(step.runs)) if state else []
            if state is None or not runs:
                continue
            wait = 0 if patience else self._patience(state.opened, runs)
            if wait > self.spent:
                heappush(self._postponed, (wait, len(self._postponed), step))
            elif not self._try(_Entering(step, state, runs, state.is_empty, is_last), limit):
                return
        self.is_exhausted = True

    def _next_step(self) -> tuple[Step, int] | None:
        """Return the next step, and the tokens that had to be spent before it."""
        is_due = bool(self._postponed) and self._postponed[0][0] <= self.spent
        following = None if is_due else next(self._steps, None)
        if following:
            return following, 0
        if self._postponed:
            patience, _, step = heappop(self._postponed)
            return step, patience
        return None

    def _try(self, entering: _Entering, limit: int) -> bool:
        """Show the lines of a step; return whether all fit.

        If not all fit, show as many lines as the limit allows.
        """
        price = self._price(entering, entering.runs)
        if self.spent + price <= limit:
            self._take(entering, price)
            return True
        self._waiting = entering, self.spent
        rest = int(max(_MAX_UNUSED, limit * _MAX_UNUSED_PART)) if entering.is_last else limit
        if part := self._beginning(entering, limit - self.spent, max_unused=rest):
            self.spent += self._price(entering, part)
            entering.state.show(part)
        return False

    def _take(self, entering: _Entering, price: int) -> None:
        entering.state.show(entering.runs)
        self.spent += price
        self.order.spend(entering.step, price)

    def _price(self, entering: _Entering, runs: Sequence[Run]) -> int:
        """Return an upper bound of the tokens added by ``runs``.

        Gap marks and the heading of a new file count.
        """
        file = entering.state.opened
        tokens = sum(self.count("".join(file.texts[first - 1 : last])) for first, last in runs)
        gap = file.gap + _MARGIN + file.number
        tokens += sum(last - first + 1 for first, last in runs) * file.number
        # The rest of a definition gets a gap mark of its own.
        gaps = len(runs) + sum(last < file.ends[last - 1] for _, last in runs if file.ends)
        return tokens + gaps * gap + (file.frame + gap if entering.opens else 0)

    def _patience(self, file: OpenedFile, runs: Sequence[Run]) -> int:
        """Return how many tokens must be spent before the longest statement among ``runs`` may enter."""
        longest = ""
        for first, last in runs:
            texts = file.texts[first - 1 : last]
            if sum(map(len, texts)) > max(_FEW_CHARACTERS, len(longest)):
                longest = max(longest, file.longest_statement(first, last), key=len)
        tokens = self.count(longest) if len(longest) > _FEW_CHARACTERS else 0
        if tokens <= _SHORT:
            return 0
        soon = _SOON_PATIENCE * (tokens - _SHORT)
        return soon if max(soon, self.spent) + tokens <= _SOON else tokens * _PATIENCE

    def _beginning(self, entering: _Entering, limit: int, *, max_unused: int) -> list[Run]:
        """Return the first statements of a step within ``limit`` tokens.

        The next statement is cut if more than ``max_unused`` tokens would be left.
        """
        file = entering.state.opened
        if file.is_whole:
            return []
        numbers = [number for first, last in entering.runs for number in range(first, last + 1)]
        nonblank = (index for index, number in enumerate(numbers) if not file.blank[number - 1])
        # A line that is not blank costs at least a token, so no more lines can fit.
        end = next(islice(nonblank, max(limit, 0) + 1, None), len(numbers))
        marks = file.whole(as_runs(numbers[:end]))
        numbers = [number for number in numbers if marks[number - 1]]
        fitting = self._fitting(entering, file.by_statement(numbers), limit)
        if limit - (self._price(entering, fitting) if fitting else 0) > max_unused:
            fitting = self._fitting(entering, [[number] for number in numbers], limit)
        return fitting

    def _fitting(
        self, entering: _Entering, parts: Sequence[Sequence[int]], limit: int
    ) -> list[Run]:
        """Return the lines of the first ``parts`` within ``limit`` tokens, without blank lines at the end."""
        blank = entering.state.opened.blank
        low, high = 0, len(parts)
        while low < high:
            middle = (low + high + 1) // 2
            runs = as_runs(sorted(chain.from_iterable(parts[:middle])))
            if self._price(entering, runs) <= limit:
                low = middle
            else:
                high = middle - 1
        while low and all(blank[number - 1] for number in parts[low - 1]):
            low -= 1
        return as_runs(sorted(chain.from_iterable(parts[:low])))

    def _state(self, number: int) -> ShownLines | None:
        if number not in self.shown and number not in self._unusable:
            file = self.open_file(number)
            if file is None:
                self._unusable.add(number)
            else:
                self.shown[number] = ShownLines(file)
        return self.shown.get(number)


@dataclass(slots=True)
class _SentFiles:
    """The staying files of the last prompt, in the order in which they were sent."""

    files: list[SentFile]
    choices: Mapping[str, FileChoice]  # of all candidates by path
    free: int  # tokens left

    def score(self, file: SentFile) -> float:
        return self.choices[file.path].score or 0.0

    def drop(self, files: Iterable[SentFile]) -> None:
        paths = {file.path for file in files}
        self.free += sum(file.tokens for file in self.files if file.path in paths)
        self.files = [file for file in self.files if file.path not in paths]

    def movable(self) -> list[SentFile]:
        """Return the files without pins, the prompt's last file first."""
        return [file for file in reversed(self.files) if not self.choices[file.path].pinned]

    def make_room(self) -> None:
        """Drop sent files from the prompt's end until all fit.

        Likely files are dropped only if nothing else is left.
        """
        missing = -self.free
        dropped: list[SentFile] = []
        for file in sorted(self.movable(), key=lambda file: self.score(file) >= LIKELY):
            if missing <= 0:
                break
            dropped.append(file)
            missing -= file.tokens
        self.drop(dropped)

    def make_room_for(self, file: FileChoice, tokens: int, room: int) -> None:
        """Use free tokens for a file, else those of sent files with less than half of its score.

        Files are dropped from the end of the prompt.
        """
        movable = room if file.pinned else max(MOVABLE * room, tokens)
        dropped: list[SentFile] = []
        gained = passed = 0
        for old in self.movable():
            if self.free + gained >= tokens or passed >= movable:
                break
            passed += old.tokens
            if old.path != file.path and self.score(old) < BELOW * (file.score or 0):
                dropped.append(old)
                gained += old.tokens
        self.drop(dropped)
        self.free = max(self.free - tokens, 0)


def keep_sent_files(
    sent: Sequence[SentFile], choices: Sequence[FileChoice], *, room: int
) -> tuple[SentFile, ...]:
    """Return the last prompt's files to repeat unchanged.

    They are in their order in the last prompt. ``choices`` are all candidates as a prompt for the new question alone
    would show them. ``room`` are the tokens of all files.
    """
    by_path = {file.path: file for file in choices}
    existing = [file for file in sent if file.path in by_path]
    staying = _SentFiles(existing, by_path, room - sum(file.tokens for file in existing))
    staying.make_room()
    fresh = max(int(FRESH * room), min(LEAST_FRESH, room // 2))
    old_files = {file.path: file for file in staying.files}
    sizes = ((file, _new_tokens(file, old_files.get(path))) for path, file in by_path.items())
    additions = sorted(
        ((file, tokens) for file, tokens in sizes if tokens),
        key=lambda pair: (not pair[0].pinned, -(pair[0].score or 0), pair[0].path),
    )
    pinned = sum(tokens for file, tokens in additions if file.pinned)
    enough = min(sum(tokens for _, tokens in additions), int(ENOUGH * fresh))
    if staying.free < max(pinned, enough):  # likeliest first, until the question's room is used
        for file, tokens in additions:
            staying.make_room_for(file, tokens if file.pinned else min(tokens, fresh), room)
            fresh -= min(tokens, fresh)
    return tuple(staying.files)


def _new_tokens(file: FileChoice, old: SentFile | None) -> int:
    """Return the tokens of the lines that the question needs and that were not sent, ``0`` for none."""
    if not file.tokens or old is None:
        return file.tokens
    if old.content_hash != file.content_hash:
        has_more = _AMOUNTS[old.level] < _AMOUNTS[file.level]
        return _HUNK_TOKENS + max(file.tokens - old.tokens, 0) if has_more else 0
    new = _lines(file) - _shared_lines(old, file)
    return _HUNK_TOKENS + file.tokens * new // max(_lines(file), 1) if new else 0


def grown_files(sent: Iterable[SentFile], now: Iterable[FileChoice]) -> frozenset[str]:
    """Return the paths of files still showing all sent lines.

    Line numbers of a changed file cannot be compared, so it must have been and be shown in full.
    """
    choices = {choice.path: choice for choice in now}
    return frozenset(
        file.path
        for file in sent
        if (choice := choices.get(file.path)) is not None
        and (
            _lines(file) == _shared_lines(file, choice)
            if file.content_hash == choice.content_hash
            else file.level is Level.FULL is choice.level
        )
    )


def _lines(file: SentFile | FileChoice) -> int:
    return sum(last - first + 1 for first, last in file.lines)


def _shared_lines(old: SentFile, file: FileChoice) -> int:
    left, right = old.lines, file.lines
    shared = i = j = 0
    while i < len(left) and j < len(right):
        shared += max(min(left[i][1], right[j][1]) - max(left[i][0], right[j][0]) + 1, 0)
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return shared
