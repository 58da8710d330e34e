"""Telling a host when the presets' files change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from aggregate.base.errors import AggregateError
from aggregate.base.values import ContextPreset
from aggregate.project.presets.store import ContextPresetManager

OnChange = Callable[[dict[str, ContextPreset], list[str]], None]
"""Called with all presets and the warnings about them."""


@contextmanager
def watch_context_presets(manager: ContextPresetManager, on_change: OnChange) -> Iterator[None]:
    """Reload the presets whenever one of their files changes, while the block runs, and hand them to ``on_change``.

    It is called on the watcher's thread. While a file is half edited and cannot be read, it is called with no presets
    and one warning that says why.
    """
    paths = [path for path in (manager.project_path, manager.global_path) if path is not None]
    observer = Observer()
    handler = _Reload(manager, on_change, {str(path.resolve()) for path in paths})
    for folder in sorted(
        {path.resolve().parent for path in paths if path.resolve().parent.is_dir()}
    ):
        observer.schedule(handler, str(folder))
    observer.start()
    try:
        yield
    finally:
        observer.stop()
        observer.join()


class _Reload(FileSystemEventHandler):
    """Reloads on events about the files themselves: editors write them in place or move a new one over them."""

    def __init__(self, manager: ContextPresetManager, on_change: OnChange, paths: set[str]) -> None:
        self._manager = manager
        self._on_change = on_change
        self._paths = paths

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Reload if the event is a change of one of the files."""
        touched = {
            str(Path(str(path)).absolute()) for path in (event.src_path, event.dest_path) if path
        }
        if event.event_type in ("opened", "closed_no_write") or not touched & self._paths:
            return
        try:
            presets, warnings = self._manager.reload_context_presets()
        except AggregateError as error:
            presets, warnings = {}, [str(error)]
        self._on_change(presets, warnings)
