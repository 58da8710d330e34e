"""Receive events of the file system, by inotify on Linux and by watchdog on other systems."""

import errno
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from aggregate.base.disk.reading import is_inside

if TYPE_CHECKING:
    from watchdog.events import FileSystemEventHandler
    from watchdog.observers.api import ObservedWatch
    from watchdog.observers.inotify_c import CallbackId, InotifyEvent, WatchDescriptor


class Entry(NamedTuple):
    folder: str
    name: str
    is_folder: bool = False
    is_gone: bool = False


# Each watch has one callback, and each watcher its own watches.
_ONLY_CALLBACK: Final = cast("CallbackId", 0)
# Called on a backend's thread, and returns at once; None if the system lost events.
Report = Callable[[Entry | None], None]


class Backend(Protocol):
    def add(self, folder: str) -> None: ...

    def discard(self, folder: str) -> None: ...

    def close(self) -> None: ...


def system_backend(root: str, report: Report) -> Backend:
    return _Inotify(report) if sys.platform == "linux" else Observed(root, report)


class _Inotify:
    """Receives events of folders by inotify, in one thread."""

    def __init__(self, report: Report) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self.report = report
        self._numbers: dict[str, WatchDescriptor] = {}
        self._inotify = InotifyFD()
        self._inotify.start()

    def add(self, folder: str) -> None:
        from watchdog.observers.inotify_c import InotifyConstants as Bits, Mask

        if folder in self._numbers:
            return
        # No events for reads and permissions. Links are not followed; callers watch their target.
        mask = Bits.IN_CREATE | Bits.IN_MODIFY | Bits.IN_CLOSE_WRITE | Bits.IN_MOVE | Bits.IN_DELETE
        mask |= Bits.IN_ONLYDIR | Bits.IN_DONT_FOLLOW | Bits.IN_EXCL_UNLINK
        watched = _InotifyFolder(folder, self)
        try:
            number = self._inotify.add_callback(
                os.fsencode(folder), Mask(mask), watched, _ONLY_CALLBACK
            )
        except OSError as error:
            if is_limit(error):
                raise
            return  # deleted, not a folder, or too long a path
        if number < 0:  # no permission, which watchdog does not raise
            self._inotify.remove_callbacks([(number, _ONLY_CALLBACK)])
            return
        self._numbers[folder] = number

    def discard(self, folder: str) -> None:
        number = self._numbers.pop(folder, None)
        if number is not None:
            self._inotify.remove_callbacks([(number, _ONLY_CALLBACK)])

    def forget(self, folder: str, number: "WatchDescriptor") -> None:
        if self._numbers.get(folder) == number:
            del self._numbers[folder]
            self.report(Entry(folder, "", is_folder=True, is_gone=True))

    def close(self) -> None:
        self._inotify.stop()
        self._inotify.join()


class _InotifyFolder:
    def __init__(self, folder: str, owner: _Inotify) -> None:
        self._folder = folder
        self._owner = owner

    def on_event(self, event: "InotifyEvent") -> None:
        is_gone = event.is_delete or event.is_moved_from
        name = os.fsdecode(event.name)
        self._owner.report(Entry(self._folder, name, event.is_directory, is_gone))

    def on_watch_deleted(self, wd: "WatchDescriptor") -> None:
        self._owner.forget(self._folder, wd)

    def on_queue_overflow(self) -> None:
        self._owner.report(None)


class Observed:
    """Receives events of whole trees by watchdog, on macOS, Windows and other systems."""

    def __init__(self, root: str, report: Report) -> None:
        from watchdog.observers import Observer

        self._root = root
        self._observer = Observer()
        self._handler = _observed_handler(report)
        self._watches: dict[str, ObservedWatch] = {}
        self._observer.start()

    def add(self, folder: str) -> None:
        is_root = folder == self._root
        if folder in self._watches or (is_inside(folder, self._root) and not is_root):
            return
        if os.path.isdir(folder):  # noqa: PTH112 - schedule raises for others
            watch = self._observer.schedule(self._handler, folder, recursive=is_root)
            self._watches[folder] = watch

    def discard(self, folder: str) -> None:
        watch = self._watches.pop(folder, None)
        if watch is not None:
            self._observer.unschedule(watch)

    def close(self) -> None:
        self._observer.stop()
        self._observer.join()


def _observed_handler(report: Report) -> "FileSystemEventHandler":
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.event_type in ("opened", "closed_no_write"):
                return
            if event.is_directory and event.event_type == "modified":
                return  # the change inside has its own event
            is_move = event.event_type == "moved"
            source = os.fsdecode(event.src_path)
            gone = is_move or event.event_type == "deleted"
            if gone and event.is_directory:
                report(Entry(source, "", is_folder=True, is_gone=True))
            report(Entry(*os.path.split(source), event.is_directory, gone))
            if is_move:
                target = os.fsdecode(event.dest_path)
                report(Entry(*os.path.split(target), event.is_directory))

    return Handler()


def is_limit(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EMFILE, errno.ENFILE)
