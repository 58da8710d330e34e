"""Live reload of presets."""

from pathlib import Path
from queue import Queue

from aggregate import ContextPreset, ContextPresetManager
from aggregate.project.presets.watch import watch_context_presets


def test_a_change_of_the_file_reloads_the_presets(tmp_path: Path) -> None:
    """A save by anyone is seen; a file that cannot be read for a moment is a warning, not an end (M-43)."""
    manager = ContextPresetManager(tmp_path / "manual_slop.toml")
    manager.save_preset(ContextPreset("one"))
    seen: Queue[tuple[list[str], list[str]]] = Queue()
    with watch_context_presets(
        manager, lambda presets, warnings: seen.put((list(presets), warnings))
    ):
        manager.save_preset(ContextPreset("two"))
        while (event := seen.get(timeout=10))[0] != ["one", "two"]:
            pass
        manager.project_path.write_text("[broken", encoding="utf-8")
        while not (event := seen.get(timeout=10))[1]:
            pass
        assert "is no valid TOML" in event[1][0]
