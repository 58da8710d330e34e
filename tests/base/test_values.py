"""Plain values: token amounts, file items and records, source maps, deep copies."""

import threading
import zlib
from base64 import b85encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import ContextPreset, FileItem, FileRecord, ViewMode, build_file_items
from aggregate.base import FileEntry, isolated_copy
from aggregate.base.task_budget import AUTO, MOST_TOKENS, parse_amount, parse_number
from aggregate.prompt import File
from aggregate.prompt.audit import pack_map, unpack_map
from aggregate.prompt.document import Label, SourceMap
from tests.projects import project
from tests.prompt.composing import shown_file


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1", 1),
        ("32000", 32_000),
        ("32k", 32_000),
        ("32K", 32_000),
        ("1.5m", 1_500_000),
        ("1.50k", 1_500),
        ("32_000", 32_000),
        ("32,000", 32_000),
        ("1,000k", 1_000_000),
        (" 8k\n", 8_000),
        ("0.5k", 500),
        ("1000m", MOST_TOKENS),
    ],
)
def test_what_names_a_number(text: str, tokens: int) -> None:
    """Numbers are plain, grouped, in thousands or in millions (rule B-1)."""
    assert parse_number(text) == tokens


NO_NUMBERS = """0 0k -1 1.5 1.0005k 3,2 32,00 1_0 1e3 k .5k 32kk 1000.1m 9999999999 ٣٢ full auto 1.k 0x10 NaN inf"""


@pytest.mark.parametrize("text", [*NO_NUMBERS.split(), "", "32 k", "9" * 5_000])
def test_what_names_none(text: str) -> None:
    """Empty, too small, fractional, foreign and huge numbers are one sentence (rule B-1)."""
    with pytest.raises(
        ValueError, match=r"^must be a number of tokens from 1 to 1,000,000,000, such as"
    ):
        parse_number(text)


@pytest.mark.parametrize("value", [True, 1.5, 32.0, None, [], 0, -5, MOST_TOKENS + 1, "autos", ""])
def test_a_configurations_value_is_checked_too(value: object) -> None:
    """Wrong types and bounds are the same sentence, with ``auto`` (rule B-1)."""
    with pytest.raises(ValueError, match=r"^must be a number of tokens .*, or auto$"):
        parse_amount(value)


def test_auto_and_numbers_are_amounts() -> None:
    """``auto`` stays, numbers and texts become numbers (rule B-1)."""
    assert [parse_amount(value) for value in ("auto", 5, "5k")] == [AUTO, 5, 5_000]


@given(st.integers(1, MOST_TOKENS))
def test_each_way_to_write_a_number_gives_it(tokens: int) -> None:
    """All notations of a number are read back (rule B-1)."""
    thousands = f"{tokens // 1000}.{tokens % 1000:03}k"
    for text in (str(tokens), f"{tokens:,}", f"{tokens:_}", thousands):
        assert parse_number(text) == tokens


@given(st.text(alphabet="0123456789,._kKmM -", max_size=20))
def test_any_text_gives_a_number_within_bounds_or_a_sentence(text: str) -> None:
    """Any text is a valid budget or the one error (rule B-1)."""
    try:
        tokens = parse_number(text)
    except ValueError as error:
        assert str(error).startswith("must be")  # noqa: PT017 - either is right
    else:
        assert 1 <= tokens <= MOST_TOKENS


values = {
    "auto_aggregate": st.booleans(),
    "force_full": st.booleans(),
    "view_mode": st.sampled_from([mode.value for mode in ViewMode]),
    "selected": st.booleans(),
    "ast_signatures": st.booleans(),
    "ast_definitions": st.booleans(),
    "ast_mask": st.dictionaries(
        st.text(min_size=1), st.sampled_from(["def", "sig", "hide"]), max_size=3
    ),
    "custom_slices": st.lists(
        st.fixed_dictionaries({"start_line": st.integers(1, 9), "end_line": st.integers(1, 9)}),
        max_size=2,
    ),
    "injected_at": st.none() | st.floats(0, 1e9),
}


@given(st.builds(FileItem, st.text(min_size=1), **values))
def test_round_trip(item: FileItem) -> None:
    """All ten fields survive ``to_dict`` and ``from_dict`` (M-40)."""
    assert len(item.to_dict()) == 10
    assert FileItem.from_dict(item.to_dict()) == item


def test_unknown_and_missing_keys_are_tolerated() -> None:
    """Old and new files load; ``None`` means the default (M-40, M-X10)."""
    item = FileItem.from_dict({"path": "a", "new_key": 1, "view_mode": None})
    assert item == FileItem("a")


def test_slices_get_tag_and_comment() -> None:
    """Slices always have both keys (M-40, M-41); the caller's dictionary stays."""
    mine = {"start_line": 1, "end_line": 2, "tag": "t"}
    assert FileItem("a", custom_slices=[mine]).custom_slices == [
        {"start_line": 1, "end_line": 2, "tag": "t", "comment": None}
    ]
    assert mine == {"start_line": 1, "end_line": 2, "tag": "t"}


def test_preset_promotes_strings() -> None:
    """A path is promoted to an item (M-43)."""
    preset = ContextPreset("p", ["a.py", {"path": "b.py", "view_mode": "none"}, FileItem("c.py")])  # type: ignore[list-item]
    assert preset.files == [FileItem("a.py"), FileItem("b.py", view_mode="none"), FileItem("c.py")]


def test_a_record_of_the_pipeline_is_kept_whole(tmp_path: Path) -> None:
    """A record converted to a file and back is equal, with the order of keys (M-5)."""
    project(tmp_path, {"a.py": "def f():\n    return 1\n", "b.bin": "\0"})
    outline = {"path": "a.py", "view_mode": "outline", "tier": 3, "ast_mask": {"f": "def"}}
    entries: list[FileEntry] = [outline, "gone.py", "b.bin"]
    for record in build_file_items(tmp_path, entries):
        again = File.from_record(record).to_record()
        assert list(again.items()) == list(record.items())
        assert list(again) == list(FileRecord.__annotations__)


def test_a_record_shares_nothing_with_the_file() -> None:
    """Changing a record changes no file."""
    file = shown_file("a.py", ast_mask={"f": "def"}, custom_slices=[{"start_line": 1}])
    record = file.to_record()
    record["ast_mask"].clear()
    record["custom_slices"][0].clear()
    assert file == shown_file("a.py", ast_mask={"f": "def"}, custom_slices=[{"start_line": 1}])


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({}, shown_file("")),
        ({"entry": "a.py"}, shown_file("a.py", entry="a.py")),
        ({"path": Path("a.py"), "content": "x"}, shown_file("a.py", "x", "x")),
        ({"path": "a", "content": "x", "source": ""}, shown_file("a", "x")),
        ({"path": "a", "content": "ERROR", "error": 1}, shown_file("a", "ERROR", error=True)),
        ({"path": "a", "view_mode": "none"}, shown_file("a", mode=ViewMode.NONE)),
        ({"path": "a", "view_mode": "NONE", "language": None}, shown_file("a")),
    ],
)  # fmt: skip
def test_a_record_written_by_hand_may_lack_any_key(record: dict[str, Any], expected: File) -> None:
    """Missing keys of a record have the defaults of a full file."""
    assert File.from_record(record) == expected


NAMES = ("a.py", "b.py", "c.py", "3")
numbers = st.integers(min_value=1, max_value=2**31)


@st.composite
def _runs(draw: st.DrawFn) -> SourceMap:
    source_map = SourceMap()
    for _ in range(draw(st.integers(0, 12))):
        label = draw(st.sampled_from(Label))
        if label in (Label.BLANK, Label.REMAINDER, Label.RULE):
            source_map.add(draw(st.integers(1, 9)), label)
            continue
        first = draw(st.one_of(st.just(0), numbers))
        last = first + draw(st.integers(0, 99)) if first else 0
        source_map.add(draw(st.integers(1, 99)), label, draw(st.sampled_from(NAMES)), first, last)
    return source_map


@given(source_map=_runs(), known=st.lists(st.sampled_from(NAMES), max_size=5))
def test_what_is_packed_is_unpacked(source_map: SourceMap, known: list[str]) -> None:
    """A map survives packing, for any sources already known and in any order (rule L-3)."""
    others, text = pack_map(source_map, known)
    assert not set(others) & set(known)
    back = unpack_map(text, [*known, *others])
    assert [*back.runs] == [*source_map.runs]
    assert [*back.origins()] == [*source_map.origins()]


def _good() -> str:
    source_map = SourceMap()
    source_map.add(3, Label.VERBATIM, "a", 1, 3)
    return pack_map(source_map, ["a"])[1]


GOOD = _good()


BOMB = b85encode(zlib.compress(bytes(1 << 24))).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        BOMB,
        b85encode(zlib.compress(b"\xff" * 99)).decode(),
        "~~~",
        GOOD[:-2],
        GOOD[::-1],
        "0" * 999,
        "ä",
    ],
)
def test_a_damaged_map_is_refused(text: str) -> None:
    """A damaged map is a ``ValueError``, nothing else (rule L-2)."""
    with pytest.raises(ValueError, match=r"\S"):
        unpack_map(text, ["a"])


def test_a_map_needs_its_sources() -> None:
    """A map without its sources is refused (rule L-2)."""
    assert unpack_map(GOOD, ["a"]).find("a", 2) == 2
    with pytest.raises(ValueError, match="is not a map of sources"):
        unpack_map(GOOD, [])


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3) | st.just(datetime(2024, 1, 1, tzinfo=UTC)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.integers(), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_copy_is_equal_and_shares_no_list(value: Any) -> None:
    """A copy is equal and shares no list or dictionary (O-53)."""
    copy = isolated_copy(value)
    assert copy == value
    assert not containers(copy) & containers(value)


def containers(value: Any) -> set[int]:
    """Return the identities of all non-empty lists and dictionaries inside."""
    if not isinstance(value, list | dict | tuple):
        return set()
    own = {id(value)} if value and not isinstance(value, tuple) else set()
    children = value.values() if isinstance(value, dict) else value
    return own.union(*(containers(child) for child in children))


def test_cycles_depth_and_stubborn_values() -> None:
    """Cycles stay, depth is unlimited, and uncopyable values are shared (O-52)."""
    loop: list[Any] = [1]
    loop.append(loop)
    copy = isolated_copy(loop)
    assert copy[1] is copy
    assert copy is not loop
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    assert isolated_copy(deep) is not deep
    lock = threading.Lock()
    assert isolated_copy({"lock": lock})["lock"] is lock
    twice = [1]
    pair = isolated_copy({"a": twice, "b": twice})
    assert pair["a"] is pair["b"]
