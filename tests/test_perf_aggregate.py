"""What the monitor sees of a run."""

from pathlib import Path

from aggregate import build_file_items, build_markdown_no_history, build_tier3_context, get_monitor
from tests.projects import project


def test_build_tier3_context_scaling(tmp_path: Path) -> None:
    """Each public step is timed under its own name, once per call (M-18)."""
    project(tmp_path, {f"f{i}.py": "def f():\n    return 1\n" for i in range(20)})
    get_monitor().reset()
    items = build_file_items(tmp_path, ["*.py"])
    build_tier3_context(items, tmp_path, [], [], [])
    build_markdown_no_history(items, tmp_path, [])
    timings = get_monitor().timings()
    assert {name: timing.count for name, timing in timings.items()} == {
        "build_file_items": 1,
        "build_markdown_no_history": 1,
        "build_tier3_context": 1,
        "render_files": 1,
    }
    assert all(timing.total == timing.last > 0 for timing in timings.values())


def test_a_scope_is_timed_even_if_it_fails() -> None:
    """The monitor counts a block that raises (M-18)."""
    get_monitor().reset()
    try:
        with get_monitor().scope("broken"):
            raise ValueError("on purpose")
    except ValueError:
        pass
    assert get_monitor().timings()["broken"].count == 1
