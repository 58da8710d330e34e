"""Sample indexes."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from aggregate.project.index import Index, Kind, look_at, settled_mark

VIEW, TOKENS = Kind("view", "1"), Kind("tokens", "1")
LIMIT = 100_000_000
HOUR_NS = 3_600_000_000_000


def key(number: int) -> bytes:
    return sha256(str(number).encode()).digest()


def payload(number: int) -> bytes:
    return sha256(b"payload %d" % number).digest() * (number * 37 % 160)


def place(folder: Path) -> Path:
    return folder / "aggregate-index" / "index.sqlite"


def in_an_hour() -> int:
    """Return the time in an hour: by then files written by a test count as old."""
    return time.time_ns() + HOUR_NS


@contextmanager
def opened(
    folder: Path, *, limit: int = LIMIT, verify: bool = False, now: Callable[[], int] = in_an_hour
) -> Iterator[Index]:
    """Open the index in ``folder``, and close it at the end without a flush."""
    index = Index(place(folder), limit=limit, verify=verify, now=now)
    try:
        yield index
    finally:
        index.close()


def write_files(folder: Path, count: int) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"file{number}.txt" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(payload(number))
    return [str(path) for path in paths]


def fill(folder: Path, paths: Sequence[str] = (), *, count: int = 40) -> None:
    """Create an index that knows ``paths``, with ``count`` results of two kinds."""
    with opened(folder) as index:
        put_all(index, paths, count=count)
        index.flush()
        assert index.warning == ""


def put_all(index: Index, paths: Sequence[str] = (), *, count: int = 40) -> None:
    index.put_many(VIEW, ((key(number), payload(number)) for number in range(count)))
    index.put_many(TOKENS, ((key(number), b"%d" % number) for number in range(count)))
    for number, path in enumerate(paths):
        note(index, path, key(number), seen_ns=index.now_ns())


def note(index: Index, path: str, content_hash: bytes, *, seen_ns: int) -> None:
    """Store a value for a file while the file is unchanged."""
    state = look_at(path)
    assert state is not None
    index.remember_group(_name_of(path), [settled_mark(state, path, seen_ns=seen_ns)], content_hash)


def known(index: Index, paths: Sequence[str]) -> list[bytes | None]:
    """Return the stored values of unchanged files."""
    looks = index.look_at_groups([(_name_of(path), [(path, path)]) for path in paths])
    return [look.kept if list(look.places) == [0] else None for look in looks]


def _name_of(path: str) -> bytes:
    return sha256(path.encode()).digest()


def check(index: Index, paths: Sequence[str] = (), *, count: int = 40) -> int:
    """Assert that a filled index returns only correct values; count them."""
    views = index.get_many(VIEW, [key(number) for number in range(count)])
    assert all(view in (None, payload(number)) for number, view in enumerate(views))
    tokens = index.get_many(TOKENS, [key(number) for number in range(count)])
    assert all(text in (None, b"%d" % number) for number, text in enumerate(tokens))
    hashes = known(index, paths)
    assert all(found in (None, key(number)) for number, found in enumerate(hashes))
    return sum(found is not None for found in (*views, *tokens, *hashes))
