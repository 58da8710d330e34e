"""Waiting until git is done."""

from pathlib import Path
from threading import Timer

from aggregate.project.watching import Changes, GitActivity, TreeWatch
from tests.project.repository import git


def _repository(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    return folder.resolve()


def test_what_comes_while_git_holds_the_index_is_one_change(tmp_path: Path) -> None:
    """Changes are gathered until the lock is gone."""
    root = _repository(tmp_path)
    lock = root / ".git/index.lock"
    with TreeWatch(root) as watch:
        lock.touch()
        (root / "a.py").write_text("a")
        first = watch.wait(5)
        assert first is not None
        write = Timer(0.2, (root / "b.py").write_text, ["b"])
        end = Timer(0.4, lock.unlink)
        for timer in (write, end):
            timer.start()
        changes = GitActivity(watch).settle(first)
        for timer in (write, end):
            timer.join()
    assert changes == Changes((f"{root}/a.py", f"{root}/b.py"))


def test_a_lock_that_was_left_behind_is_waited_for_once(tmp_path: Path) -> None:
    """What a killed git leaves holds up one change for the most seconds, and none after; a new lock does again."""
    root = _repository(tmp_path)
    lock = root / ".git/index.lock"
    lock.touch()
    with _Counted(root) as watch:
        activity = GitActivity(watch, most_seconds=0.3)
        assert len(_waits(watch, activity)) > 1
        assert _waits(watch, activity) == [0]
        lock.unlink()
        lock.write_text("of another git")
        assert len(_waits(watch, activity)) > 1


def test_a_rebase_that_has_stopped_for_a_person_is_no_reason_to_wait(tmp_path: Path) -> None:
    """Where nothing changes for a moment, the change is told although the rebase is not over."""
    root = _repository(tmp_path)
    (root / ".git/rebase-merge").mkdir()
    with _Counted(root) as watch:
        assert _waits(watch, GitActivity(watch)) == [0, 0.3]


class _Counted(TreeWatch):
    """Remembers for how many seconds each change was waited for."""

    waits: list[float]

    def wait(self, seconds: float | None = None) -> Changes | None:
        """Wait as ever."""
        self.waits.append(-1 if seconds is None else seconds)
        return super().wait(seconds)


def _waits(watch: _Counted, activity: GitActivity) -> list[float]:
    """Return how often and how long a change is held up."""
    watch.waits = []
    assert activity.settle(Changes(("a",))) == Changes(("a",))
    return watch.waits
