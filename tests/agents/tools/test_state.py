"""Saved state (rules D-86, P15)."""

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from aggregate import ToolRegistry, standard_tools
from aggregate.agents.tools import state_store


def tools(folder: Path) -> ToolRegistry:
    return standard_tools(state_dir=folder, permissions="read, write")


def test_values_are_saved_loaded_and_listed(tmp_path: Path) -> None:
    """A value comes back under its key; nothing is made on disk before something is saved."""
    made = tools(tmp_path / "state")
    assert made.run("listStateKeys", {}) == {"success": True, "keys": [], "count": 0}
    nothing = {"success": True, "found": False, "key": "a", "value": None}
    assert made.run("loadState", {"key": "a"}) == nothing
    assert not (tmp_path / "state").exists()
    saved = made.run("saveState", {"key": "b", "value": {"n": [1, None]}})
    assert saved == {"success": True, "key": "b"}
    made.run("saveState", {"key": "a", "value": "é"})
    assert made.run("loadState", {"key": "b"})["value"] == {"n": [1, None]}
    assert tools(tmp_path / "state").run("listStateKeys", {})["keys"] == ["a", "b"]


def test_saving_needs_its_permission(tmp_path: Path) -> None:
    """With the default permissions a goal can read saved state only."""
    made = standard_tools(state_dir=tmp_path)
    assert "needs the permission write" in made.run("saveState", {"key": "a", "value": 1})["error"]


def test_a_damaged_store_is_a_failed_result(tmp_path: Path) -> None:
    """No traceback reaches anyone."""
    (tmp_path / "state.db").write_bytes(b"not a database" * 100)
    result = tools(tmp_path).run("listStateKeys", {})
    assert result["success"] is False
    assert "the saved state cannot be used" in result["error"]


@pytest.mark.parametrize("key", ["", "  ", "k" * 201])
def test_keys_are_bounded(tmp_path: Path, key: str) -> None:
    """An empty or endless key is refused."""
    error = tools(tmp_path).run("saveState", {"key": key, "value": 1})["error"]
    assert "a key has 1 to 200 characters" in error


def runs(*rows: tuple[int, int, str]) -> list[dict[str, Any]]:
    return [{"id": number, "timestamp": when, "name": name} for number, when, name in rows]


def test_series_are_merged_by_id(tmp_path: Path) -> None:
    """One record for each id, the newest wins; counts say what was added (D-86)."""
    made = tools(tmp_path)
    for items, counts in (
        (runs((1, 100, "old"), (2, 200, "b")), (2, 0, 2)),
        (runs((1, 150, "new"), (2, 50, "stale"), (3, 300, "c")), (1, 2, 3)),
    ):
        merged = made.run("mergeTimeseriesState", {"key": "runs", "items": items})
        assert (merged["added"], merged["duplicates"], merged["total_count"]) == counts
    found = made.run("queryTimeseriesState", {"key": "runs", "start": 0, "end": 1000})
    assert [one["name"] for one in found["items"]] == ["new", "b", "c"]


def _coverage(made: ToolRegistry, start: int, end: int, key: str = "runs") -> str:
    query = {"key": key, "start": start, "end": end}
    return str(made.run("queryTimeseriesState", query)["coverage"])


def test_the_coverage_of_a_range(tmp_path: Path) -> None:
    """Full, partial or none, by the times that merged records covered; gaps are none until a call covers them (D-86)."""
    made = tools(tmp_path)
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((1, 100, "a"), (2, 300, "b"))})
    assert [_coverage(made, 100, 300), _coverage(made, 150, 250)] == ["full", "full"]
    assert [_coverage(made, 50, 150), _coverage(made, 250, 400)] == ["partial", "partial"]
    assert [_coverage(made, 301, 400), _coverage(made, 1, 2, "none")] == ["none", "none"]
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((3, 500, "c"))})
    assert _coverage(made, 100, 500) == "partial"
    empty = {"key": "runs", "items": [], "covered_from": 301, "covered_to": 499}
    assert made.run("mergeTimeseriesState", empty)["total_count"] == 3
    assert _coverage(made, 100, 500) == "full"


def test_records_without_id_or_time_are_mistakes(tmp_path: Path) -> None:
    """The result names what is missing, and the series stays as it was."""
    made = tools(tmp_path)
    made.run("mergeTimeseriesState", {"key": "runs", "items": runs((1, 100, "a"))})
    for items in ([{"timestamp": 1}], [{"id": 2}], ["text"]):
        assert made.run("mergeTimeseriesState", {"key": "runs", "items": items})["success"] is False
    assert made.run("queryTimeseriesState", {"key": "runs", "start": 0, "end": 999})["count"] == 1


def test_merges_of_many_threads_lose_nothing(tmp_path: Path) -> None:
    """Each merge is one transaction."""
    store = state_store(tmp_path)

    def add(number: int) -> None:
        store.change("all", lambda old: [*(old or []), number])

    threads = [Thread(target=add, args=(number,)) for number in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(store.load("all")[1]) == list(range(12))
