"""The section of beads through its public function."""

from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

from aggregate import build_beads_section
from tests.fakes.bd import calls, install_bd
from tests.fakes.beads_project import needs, record, write_jsonl

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SAMPLE = [
    record("bd-1", "Write the reader", status="closed", closed_at="2026-02-02T00:00:00Z"),
    record("bd-2", "Choose a format", status="closed", closed_at="2026-02-01T00:00:00Z"),
    record("bd-3", "Render it", description="One line is enough.", priority=1, issue_type="feature"),
    record("bd-4", "Ship it", description="Steps:\n\n1. tag\n2. push", dependencies=[needs("bd-3")]),
    record("bd-5", "Document it", status="in_progress", issue_type="chore"),
]  # fmt: skip


def test_build_beads_compaction(tmp_path: Path) -> None:
    """Completed beads become one comma-separated list, active ones bullets with title, id, description (M-8, M-52)."""
    write_jsonl(tmp_path / ".beads" / "issues.jsonl", SAMPLE)
    assert build_beads_section(tmp_path, environ={}, now=NOW) == dedent("""\
        ## Beads Mode: Progress Track

        Source: .beads/issues.jsonl. Completed: 2. Active: 3, 1 of them ready.

        Completed: Choose a format (bd-2), Write the reader (bd-1)

        - ready, P1 feature: Render it (bd-3)
          Description: One line is enough.
        - blocked by bd-3, P2 task: Ship it (bd-4)
          Description:
          ```
          Steps:

          1. tag
          2. push
          ```
        - in progress, P2 chore: Document it (bd-5)""")


def test_no_project_and_no_beads_are_empty(tmp_path: Path) -> None:
    """Without a project, or without a bead in it, there is no section (M-8)."""
    assert build_beads_section(str(tmp_path), environ={}) == ""
    write_jsonl(tmp_path / ".beads" / "issues.jsonl", [])
    assert build_beads_section(tmp_path, environ={}) == ""


def test_mock_client_is_read(tmp_path: Path) -> None:
    """The mock client's JSON list is a project too; completed, closed and done all count as completed (M-52, M-X14)."""
    (tmp_path / ".beads_mock").mkdir()
    (tmp_path / ".beads_mock" / "beads.json").write_text(
        '[{"id": "b1", "title": "One", "status": "completed"}, {"id": "b2", "title": "Two", "status": "closed"},'
        ' {"id": "b3", "title": "Three", "status": "Done"}, {"id": "b4", "title": "Four", "status": "active"}]',
        encoding="utf-8",
    )
    assert build_beads_section(tmp_path, environ={}, now=NOW) == dedent("""\
        ## Beads Mode: Progress Track

        Source: .beads_mock/beads.json. Completed: 3. Active: 1, 0 of them ready.

        Completed: One (b1), Two (b2), Three (b3)

        - status active, P2 task: Four (b4)""")


def test_bd_is_asked_first(tmp_path: Path) -> None:
    """Where bd is on PATH and accepts the project it is the source, and the section names it (M-52)."""
    tree = tmp_path / "tree"
    write_jsonl(tree / ".beads" / "issues.jsonl", SAMPLE)
    (tree / ".beads" / "config.yaml").touch()
    environ = install_bd(
        tmp_path / "bin", output='[{"id": "bd-9", "title": "From the program", "status": "open"}]'
    )
    section = build_beads_section(tree, environ=environ, now=NOW)
    assert section == dedent("""\
        ## Beads Mode: Progress Track

        Source: bd. Completed: 0. Active: 1, 1 of them ready.

        - ready, P2 task: From the program (bd-9)""")
    assert calls(tmp_path / "bin") == ["--readonly list --json --all --limit 0 --include-gates"]


def test_dolt_without_bd_says_what_to_do(tmp_path: Path) -> None:
    """A Dolt database that nothing here can read is named as such, with the command that helps (M-52)."""
    (tmp_path / ".beads" / "embeddeddolt").mkdir(parents=True)
    assert build_beads_section(tmp_path, environ={}, now=NOW) == (
        "## Beads Mode: Progress Track\n\n"
        "Warning: The beads of this project cannot be read here; install bd, or run"
        " `bd export -o .beads/issues.jsonl` where it is installed."
    )
