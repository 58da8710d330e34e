"""Large values on disk and references to them (rules D-40 to D-49, X-1, X-2)."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import (
    AggregatedResult,
    AggregateError,
    LabelledOutput,
    compact_data,
    load_data_reference,
    merge_outputs,
    prune_data_cache,
)
from aggregate.prompt.output import with_references

RUNS = {
    "activities": [{"name": f"Run {n}", "distance": n, "moving_time": 60} for n in range(63)],
    "page": 1,
}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a folder that does not exist yet."""
    return tmp_path / "state" / "data_cache"


@pytest.mark.parametrize(("length", "inline"), [(4997, True), (4998, False)])
def test_the_threshold_is_5000_bytes_of_json(cache: Path, length: int, inline: bool) -> None:
    """Below 5000 bytes the value itself comes back and nothing is written (D-9, D-40, D-41, X-1)."""
    text = "x" * length
    assert (compact_data(text, "k", cache_dir=cache) is text) is inline
    assert cache.exists() is not inline


def test_the_reference_whole(cache: Path) -> None:
    """A large value becomes exactly these keys; the same value gives the same bytes each time (D-42 to D-45, X-2)."""
    reference = compact_data(RUNS, "neuron_0_2", cache_dir=cache, threshold=3000)
    assert reference == {
        "_ref_id": "neuron_0_2_76eb4054a90e",
        "_data_file": f"{cache.as_posix()}/neuron_0_2_76eb4054a90e.json",
        "_size_kb": 3.4,
        "_format": "disk_reference",
        "summary": "63 activities with fields: name, distance, moving_time\nFirst 3 items: "
        '[{"name": "Run 0", "distance": 0, "moving_time": 60}, {"name": "Run 1", "distance": 1, "moving_time": 60}, '
        '{"name": "Run 2", "distance": 2, "moving_time": 60}]',
        "_usage_hint": 'Use executeDataAnalysis with: load_data_reference("neuron_0_2_76eb4054a90e")',
    }
    assert load_data_reference(reference["_ref_id"], cache_dir=cache) == RUNS
    assert compact_data(RUNS, "neuron_0_2", cache_dir=cache, threshold=3000) == reference
    assert [path.name for path in cache.iterdir()] == ["neuron_0_2_76eb4054a90e.json"]


UNKNOWN = ["nothing", "../secret", "..", "a/b", "/etc/passwd", "", "a\0b", "a\n", "x" * 300, "é"]


@pytest.mark.parametrize("ref_id", UNKNOWN)
def test_an_unknown_reference_is_not_found(cache: Path, ref_id: str) -> None:
    """Ids that are unknown, or would leave the folder, are not found; nothing else is read (D-46, D-47)."""
    compact_data(RUNS, "k", cache_dir=cache, threshold=1)
    (cache.parent / "secret.json").write_text("1", encoding="utf-8")
    with pytest.raises(FileNotFoundError) as error:
        load_data_reference(ref_id, cache_dir=cache)
    assert str(error.value) == f"Data reference not found: {ref_id}"
    assert isinstance(error.value, AggregateError)


def test_a_damaged_file_says_so(cache: Path) -> None:
    """A torn file is an error with its own words (D-46)."""
    reference = compact_data(RUNS, "k", cache_dir=cache, threshold=1)
    Path(reference["_data_file"]).write_text("{", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match="is damaged"):
        load_data_reference(reference["_ref_id"], cache_dir=cache)


@pytest.mark.parametrize("key", ["../../x", "a/b", "$research", "é", "", "x" * 500, ".."])
def test_any_context_key_makes_a_safe_id(cache: Path, key: str) -> None:
    """Files stay inside the folder and can be loaded by their id (D-43, D-47)."""
    reference = compact_data(RUNS, key, cache_dir=cache, threshold=1)
    assert Path(reference["_data_file"]).parent == cache
    assert load_data_reference(reference["_ref_id"], cache_dir=cache) == RUNS


def test_a_value_that_json_cannot_hold_is_an_error(cache: Path) -> None:
    """A value that contains itself, or a folder that cannot be made, gives one clear sentence."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(AggregateError, match="k: the value cannot be stored as JSON"):
        compact_data(loop, "k", cache_dir=cache)
    cache.parent.mkdir()
    cache.write_text("a file", encoding="utf-8")
    with pytest.raises(AggregateError, match=r"cannot write \S+: File exists"):
        compact_data(RUNS, "k", cache_dir=cache, threshold=1)


def test_concurrent_writers_leave_one_whole_file(cache: Path) -> None:
    """Many threads writing the same value leave one file and no remains (D-42)."""
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda _: compact_data(RUNS, "k", cache_dir=cache, threshold=1), range(32))
        )
    assert all(one == found[0] for one in found)
    assert [json.loads(path.read_text(encoding="utf-8")) for path in cache.iterdir()] == [RUNS]


def test_pruning_deletes_old_values_and_nothing_else(cache: Path) -> None:
    """Files of the cache that are older than keep_days go, with remains of writes; others stay (D-49)."""
    assert prune_data_cache(cache, keep_days=1) == ()
    kept = Path(compact_data(RUNS, "new", cache_dir=cache, threshold=1)["_data_file"])
    old = Path(compact_data([RUNS], "old", cache_dir=cache, threshold=1)["_data_file"])
    torn, other = cache / f"{old.name}.abc123.tmp", cache / "notes.json"
    for path in (torn, other):
        path.write_text("1", encoding="utf-8")
    for path in (old, torn, other):
        os.utime(path, (0, 0))
    assert prune_data_cache(cache, keep_days=1) == (old, torn)
    assert sorted(cache.iterdir()) == sorted([kept, other])
    assert prune_data_cache(cache, keep_days=1, now=kept.stat().st_mtime + 90_000) == (kept,)


SUMMARIES = [
    ([{"a": 1}] * 12, '12 items with fields: a\nFirst 3 items: [{"a": 1}, {"a": 1}, {"a": 1}]'),
    ([{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}],
     '1 items with fields: a, b, c, d, e...\nFirst 1 item: [{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}]'),
    ([1, "x"], '2 items of int, str\nFirst 2 items: [1, "x"]'),
    ([], "0 items"),
    ({"a": [], "runs": [1, 2]}, "2 runs of int\nFirst 2 items: [1, 2]"),
    ({"a": 1, "b": {}}, "Object with keys: a, b"),
    ({"a": [1] * 9, "b": "x" * 200}, "9 a of int\nFirst 3 items: [1, 1, 1]"),
    ({"a": {"x": 1}, "b": "x" * 200}, "Object with keys: a, b"),
    ({"a": {"x": 1}, "b": {"x": "two", "y": None}, "c": {"x": 3}},
     '3 entries with fields: x, y\nFirst 3 items: [{"x": 1}, {"x": "two", "y": null}, {"x": 3}]\nKeys: a, b, c'),
    ("text", "Text of 4 characters: text"),
    (5, "int: 5"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "summary"), SUMMARIES)
def test_the_summary_counts_and_names_fields(cache: Path, value: object, summary: str) -> None:
    """A summary has the count, the fields and up to three items (D-44, X-2)."""
    assert compact_data(value, "k", cache_dir=cache, threshold=0)["summary"] == summary


def test_results_and_reports_are_compacted_the_same_way(cache: Path) -> None:
    """A large aggregated value, and large entries of a report, become references; small ones and the input stay."""
    result = merge_outputs([LabelledOutput("x" * 6000), LabelledOutput("y")])
    (compacted,) = with_references([result], cache)
    assert isinstance(compacted, AggregatedResult)
    reference = compacted.value
    assert load_data_reference(reference["_ref_id"], cache_dir=cache) == ["x" * 6000, "y"]
    assert reference["_ref_id"].startswith("results_")
    small = merge_outputs([LabelledOutput("y")])
    assert with_references([small], cache)[0] is small
    report: dict[str, dict[str, object]] = {
        "general_results": {"big": "x" * 6000, "small": "y"},
        "analysis_metadata": {"tools_executed": 2},
    }
    (told,) = with_references([report], cache)
    assert isinstance(told, dict)
    assert told["general_results"]["big"]["_format"] == "disk_reference"
    assert told["general_results"]["small"] == "y"
    assert told["analysis_metadata"] == {"tools_executed": 2}
    assert report["general_results"]["big"] == "x" * 6000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one folder for all examples."""
    return tmp_path_factory.mktemp("cache")


@given(value=JSON)
def test_every_json_value_survives_the_round_trip(shared: Path, value: Any) -> None:
    """What is JSON comes back equal (D-46)."""
    reference = compact_data(value, "k", cache_dir=shared, threshold=0)
    assert load_data_reference(reference["_ref_id"], cache_dir=shared) == value


def test_what_json_changes(cache: Path) -> None:
    """Tuples come back as lists, times as texts, keys as texts (D-48)."""
    value = {1: (1, 2), "at": datetime(2024, 1, 1, tzinfo=UTC)}
    reference = compact_data(value, "k", cache_dir=cache, threshold=1)
    assert load_data_reference(reference["_ref_id"], cache_dir=cache) == {
        "1": [1, 2],
        "at": "2024-01-01 00:00:00+00:00",
    }
