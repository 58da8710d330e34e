"""Concurrency: no change is lost, and no page misses one."""

import threading
from pathlib import Path

import pytest

from aggregate.panel import Session, watch_disk
from aggregate.project.index import Index
from tests.panel.opened import FILES
from tests.projects import project


class _Interrupting(Index):
    """An index that causes an edit during a fit."""

    def __init__(self) -> None:
        super().__init__(None, limit=0)
        self.session: Session | None = None

    def flush(self) -> None:
        """Edit once, like a concurrent request."""
        session, self.session = self.session, None
        if session is not None:
            session.edit([{"op": "view", "paths": ["src/a.py"], "mode": "outline"}])
        super().flush()


class _Faulty(Session):
    """A session that cannot follow the disk."""

    def catch_up(self) -> None:
        raise ZeroDivisionError


def test_a_fault_of_the_watch_is_said(tmp_path: Path) -> None:
    """The page goes on, the terminal has the error, and files are checked each time (E-7)."""
    said: list[str] = []
    session = _Faulty(project(tmp_path, FILES) / "manual_slop.toml")
    with pytest.raises(ZeroDivisionError):
        watch_disk(session, said.append)
    assert said == [
        "changes on the disk are not shown any more, internal error: ZeroDivisionError()"
    ]


@pytest.mark.parametrize("released", [False, True])
def test_an_edit_while_a_budget_is_fitted_is_kept(tmp_path: Path, *, released: bool) -> None:
    """Edit and budget are both kept, and the outdated prompt is not shown."""
    index = _Interrupting()
    session = Session(project(tmp_path, FILES) / "manual_slop.toml", index=index)
    session.compose()
    index.session = session
    session.fit(2000, is_released=released)
    assert 'path = "src/a.py"' in session.draft.current.text
    assert ("tokens = 2000" in session.draft.current.text) is released
    assert session.view.revision < session.revision
    session.compose()
    assert session.view.revision == session.revision


def test_what_was_changed_before_the_watch_shows(tmp_path: Path) -> None:
    """Changes during the watch's start are shown; the watch ends with the session."""
    session = Session(project(tmp_path, FILES) / "manual_slop.toml")
    session.compose()
    (tmp_path / "src/b.py").write_text("epsilon = 1\n")
    session.close()
    watch = threading.Thread(target=watch_disk, args=(session, print))
    watch.start()
    watch.join(20)
    assert not watch.is_alive()
    session.compose()
    assert session.view.composed is not None
    assert b"epsilon" in b"".join(session.view.composed.composition.prompt.pieces())
