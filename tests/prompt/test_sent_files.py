"""Which files of a discussion stay as they were sent."""

import pytest
from hypothesis import given, strategies as st

from aggregate import FileChoice
from aggregate.base import Level, SentFile
from aggregate.prompt.fit import BELOW, ENOUGH, FRESH, LEAST_FRESH, LIKELY, keep_sent_files

ROOM = 1000


def sent(*sizes: int, level: Level = Level.FULL) -> list[SentFile]:
    """Return files ``a``, ``b``, … of these tokens, as they were sent."""
    return [SentFile(chr(97 + i), level, tokens=size) for i, size in enumerate(sizes)]


def wanted_file(path: str, tokens: int, score: float, *, pinned: bool = False) -> FileChoice:
    return FileChoice(path, path, Level.FULL, Level.FULL, pinned, tokens, score)


def lowered(path: str, score: float, *, pinned: bool = False) -> FileChoice:
    """Return a file of which the new question wants nothing but its name."""
    return wanted_file(path, 0, score, pinned=pinned)._replace(level=Level.NAME)


def names(files: tuple[SentFile, ...]) -> str:
    return "".join(file.path for file in files)


def left(files: tuple[SentFile, ...], room: int = ROOM) -> int:
    return room - sum(file.tokens for file in files)


def test_all_stays_while_there_is_room() -> None:
    """A question about another file adds it behind: nothing leaves, whatever it scores (rule B-9)."""
    wanted = [lowered("a", 0.0), lowered("b", 0.0), wanted_file("c", 300, 0.9)]
    assert keep_sent_files(sent(300, 400), wanted, room=ROOM) == tuple(sent(300, 400))


def test_a_file_stays_unless_what_enters_scores_twice_as_much() -> None:
    """At just half of the score it stays, below it leaves (rule B-9)."""
    entering = wanted_file("n", 300, 0.4, pinned=True)
    staying = [lowered("a", 0.4 * BELOW), entering]
    assert names(keep_sent_files(sent(1000), staying, room=ROOM)) == "a"
    leaving = [lowered("a", 0.4 * BELOW - 0.01), entering]
    assert keep_sent_files(sent(1000), leaving, room=ROOM) == ()


@pytest.mark.parametrize(
    ("room", "fresh"), [(60_000, 9_600), (100_000, 16_000), (20_000, 5_000), (8_000, 4_000)]
)
def test_a_question_has_a_part_of_the_room(room: int, fresh: int) -> None:
    """However much is wanted, so much of a full prompt is replaced and no more (rule B-9)."""
    before = [SentFile(f"a{i:03}", Level.FULL, tokens=room // 200) for i in range(200)]
    new = [wanted_file(f"n{i}", room // 5, 0.15 + i / 100) for i in range(4)]
    wanted = [*(lowered(file.path, 0.0) for file in before), *new]
    kept = keep_sent_files(before, wanted, room=room)
    assert list(kept) == before[: len(kept)]
    assert fresh <= left(kept, room) < fresh + room // 200 * len(new)
    assert fresh == max(FRESH * room, min(LEAST_FRESH, room / 2))


def test_room_is_made_at_the_end_only() -> None:
    """What stands in the front stays, however little it scores: all behind it would be lost, but for a pin (rule B-9)."""
    before = [*sent(20), *(SentFile(f"b{i}", Level.FULL, tokens=49) for i in range(20))]
    wanted = [lowered("a", 0.0), *(lowered(file.path, 0.8) for file in before[1:])]
    likely = wanted_file("n", 20, 0.9)
    assert list(keep_sent_files(before, [*wanted, likely], room=ROOM)) == before
    pinned = likely._replace(pinned=True)
    assert list(keep_sent_files(before, [*wanted, pinned], room=ROOM)) == before[1:]


def test_room_is_made_seldom() -> None:
    """While most of a question's part is left nothing leaves; then all of that part is made (rule B-9)."""
    room = 100_000
    new = wanted_file("n", room, 0.9)

    def kept(left: int) -> tuple[SentFile, ...]:
        before = [SentFile(f"a{i:02}", Level.FULL, tokens=(room - left) // 100) for i in range(100)]
        wanted = [*(lowered(file.path, 0.0) for file in before), new]
        return keep_sent_files(before, wanted, room=room)

    enough = int(ENOUGH * FRESH * room)
    assert len(kept(enough)) == 100
    assert left(kept(enough - 200), room) >= FRESH * room


def test_a_smaller_room_lets_the_last_leave() -> None:
    """The discussion grows, and the files get less: the last one leaves, a likely one after the others (rule B-9)."""
    wanted = [lowered("a", 0.0), lowered("b", 0.0), lowered("c", LIKELY)]
    assert names(keep_sent_files(sent(300, 300, 300), wanted, room=650)) == "ac"
    assert names(keep_sent_files(sent(300, 300, 300), wanted, room=350)) == "c"


def test_files_that_are_gone_leave() -> None:
    """What is no candidate any more is not sent again (rule B-9)."""
    assert names(keep_sent_files(sent(100, 100), [lowered("b", 0.5)], room=ROOM)) == "b"


@pytest.mark.parametrize(
    ("level", "lines", "content_hash", "stay"),
    [
        (Level.FOCUSED, ((11, 14),), "x", "ab"),  # its lines were sent
        (Level.FOCUSED, ((11, 30),), "x", "a"),  # ten of twenty lines are new
        (Level.FULL, ((1, 100),), "x", "a"),
        (Level.FOCUSED, ((11, 30),), "y", "ab"),  # the lines of another text cannot be compared
        (Level.SKELETON, ((1, 90),), "y", "ab"),  # it shows less than what was sent
        (Level.FULL, ((1, 10),), "y", "a"),
    ],
)  # fmt: skip
def test_more_of_a_file_that_stays(
    level: Level, lines: tuple[tuple[int, int], ...], content_hash: str, stay: str
) -> None:
    """Room is made for what is new of a file, behind the others; what was sent of it needs none (rule B-9)."""
    before = [
        SentFile("a", Level.FOCUSED, ((1, 20),), "x", 400),
        SentFile("b", Level.FULL, tokens=500),
    ]
    changed = wanted_file("a", 600, 0.9)
    changed = changed._replace(level=level, lines=lines, content_hash=content_hash)
    wanted = [changed, lowered("b", 0.0)]
    assert names(keep_sent_files(before, wanted, room=ROOM)) == stay


files = st.lists(
    st.tuples(st.integers(1, 400), st.floats(0, 1), st.integers(0, 400), st.booleans()), max_size=8
)


@given(files, files, st.integers(0, 2000))
def test_invariants(
    old: list[tuple[int, float, int, bool]], new: list[tuple[int, float, int, bool]], room: int
) -> None:
    """What stays is in its old order and within the room (but for pins), and what left had to (rule B-9)."""
    before = sent(*(tokens for tokens, *_ in old))
    wanted = [
        wanted_file(file.path, tokens, score, pinned=pinned)
        for file, (_, score, tokens, pinned) in zip(before, old, strict=True)
    ]
    wanted += [wanted_file(f"n{i}", t, s, pinned=p) for i, (_, s, t, p) in enumerate(new)]
    kept = keep_sent_files(before, wanted, room=room)
    assert list(kept) == [file for file in before if file in kept]
    pins = {file.path for file in wanted if file.pinned}
    assert left(kept, room) >= 0 or pins.issuperset(names(kept))
    assert pins.intersection(file.path for file in before) <= set(names(kept))
    scores = {file.path: file.score or 0 for file in wanted}
    entering = [file.score or 0 for file in wanted if file.path.startswith("n") and file.tokens]
    highest = max(entering, default=0.0)
    if sum(file.tokens for file in before) <= room and not pins:
        gone = [file for file in before if file not in kept]
        assert all(scores[file.path] < BELOW * highest for file in gone)
