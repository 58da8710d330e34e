"""Repeat the files of a discussion as they were sent.

A provider's cache matches a prompt up to the first byte that differs. A fit for each new question would show nearly
every file at another level and make the cache useless. So files stay as they were first sent and the discussion follows
them (rule B-9). Additional files of a question come after the discussion, and the next question replaces them. Room for
them is made at the end of the files, seldom and for several turns: the last file leaves first, if the new one scores
more than twice as much. A likely file that leaves is shown after the discussion.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.base.task_budget import FileChoice, Level, SentFile

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
