"""Readers of beads (files, database, program) and the choice of one."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bd import calls, install_bd
from tests.fakes.beads_project import needs, record, write_jsonl
from tests.hostile.running import ends

from aggregate import AggregateError
from aggregate.project.beads import (
    Bead,
    Board,
    Dependency,
    bead_from_record,
    parse_time,
    read_bd,
    read_board,
    read_json_list,
    read_jsonl,
)

BEAD = Bead("bd-1", "Title", created_at=datetime(2026, 1, 1, tzinfo=UTC))


def ids(board: Board) -> list[str]:
    return [bead.id for bead in board.beads]


class TestRecord:
    def test_all_fields(self) -> None:
        """All fields used by a prompt are read, unknown ones ignored."""
        full = record(
            "bd-1",
            description="d",
            status="Blocked",
            priority=0,
            issue_type="bug",
            closed_at="2026-01-02T00:00:00+01:00",
            defer_until="2026-01-03T00:00:00Z",
            pinned=True,
            wisp=True,
            is_template=True,
            agent_state={"x": 1},
            dependencies=[
                needs("bd-2", "waits-for", metadata='{"gate":"any-children"}'),
                needs("bd-3", "related"),
            ],
        )
        assert bead_from_record(full) == Bead(
            "bd-1",
            "Title",
            "d",
            "blocked",
            0,
            "bug",
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            closed_at=datetime(2026, 1, 1, 23, tzinfo=UTC),
            defer_until=datetime(2026, 1, 3, tzinfo=UTC),
            pinned=True,
            ephemeral=True,
            template=True,
            dependencies=(
                Dependency("bd-2", "waits-for", "any-children"),
                Dependency("bd-3", "related"),
            ),
        )

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            (
                {"title": None, "description": None, "status": None, "issue_type": None},
                Bead("x", ""),
            ),
            ({"title": 5, "priority": "high", "dependencies": "bd-2"}, Bead("x", "5")),
            ({"priority": True, "created_at": 7, "dependencies": None}, Bead("x", "")),
            ({"title": "a\ud800b"}, Bead("x", "a\ufffdb")),
            ({"dependencies": ["bd-2"]}, Bead("x", "", dependencies=(Dependency("bd-2"),))),
            ({"dependencies": [{}, {"depends_on_id": ""}]}, Bead("x", "")),
            ({"parent": "bd-9"}, Bead("x", "", dependencies=(Dependency("bd-9", "parent-child"),))),
            (
                {
                    "dependencies": [
                        needs("y", "waits-for", metadata="{gate"),
                        needs("z", "waits-for", metadata={"gate": "g"}),
                    ]
                },
                Bead(
                    "x",
                    "",
                    dependencies=(Dependency("y", "waits-for"), Dependency("z", "waits-for", "g")),
                ),
            ),
        ],
    )
    def test_unusable_fields_take_defaults(self, fields: dict[str, object], expected: Bead) -> None:
        """A bead with invalid fields is still read."""
        assert bead_from_record({"id": "x", **fields}) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2025-10-12T00:43:03.453438-07:00", datetime(2025, 10, 12, 7, 43, 3, 453438, tzinfo=UTC)),
            ("2025-11-02T09:44:12.538697729Z", datetime(2025, 11, 2, 9, 44, 12, 538697, tzinfo=UTC)),
            ("2025-11-02 09:44:12", datetime(2025, 11, 2, 9, 44, 12, tzinfo=UTC)),
            ("2025-11-02 09:44:12.5-08:00", datetime(2025, 11, 2, 17, 44, 12, 500000, tzinfo=UTC)),
            ("2025-11-02 09:44:12.5 -0800 PST m=+0.01", datetime(2025, 11, 2, 17, 44, 12, 500000, tzinfo=UTC)),
            ("2025-13-02T09:44:12Z", None),
            ("0001-01-01T00:00:00+01:00", None),
            ("yesterday", None),
            (None, None),
        ],
    )  # fmt: skip
    def test_times(self, text: str | None, expected: datetime | None) -> None:
        """RFC 3339 and the formats of Go and SQLite are parsed; anything else is no time."""
        assert parse_time(text) == expected


class TestJsonl:
    def test_other_lines_and_tombstones_are_no_beads(self, tmp_path: Path) -> None:
        """Headers, memories and tombstones are skipped; issue lines of new exports are read (M-52)."""
        lines = [
            {"_schema": "beads-jsonl/1"},
            {"_type": "memory", "key": "k", "value": "v"},
            record("bd-0", status="tombstone"),
            {"_type": "issue", **record("bd-1")},
        ]
        board = read_jsonl(write_jsonl(tmp_path / "issues.jsonl", lines), name="f")
        assert board == Board("f", (BEAD,), deleted=1)

    def test_bad_lines_are_reported_with_their_numbers(self, tmp_path: Path) -> None:
        """A bad line is a warning; the lines around it are read."""
        path = tmp_path / "issues.jsonl"
        good = json.dumps(record("bd-1")).encode()
        deep = b"[" * 100_000
        bad = [b"{", b"<<<<<<< HEAD", b"7", b'{"title":"x"}', b'"\xff"', deep, b"", b"  "]
        path.write_bytes(
            b"\n".join([b"\xef\xbb\xbf" + good, *bad]) + b"\r\n" + good.replace(b"bd-1", b"bd-2")
        )
        board = read_jsonl(path, name="f")
        assert ids(board) == ["bd-1", "bd-2"]
        assert board.warnings == (
            "f: line 2 is not JSON and was skipped.",
            "f: line 3 is not JSON and was skipped.",
            "f: line 4 is not a JSON object and was skipped.",
            "f: line 5 has no id and was skipped.",
            "f: line 6 is not JSON and was skipped.",
            "f: line 7 is not JSON and was skipped.",
        )

    def test_repeated_id(self, tmp_path: Path) -> None:
        """The later record of an id wins, also against a tombstone, with a warning."""
        lines = [
            record("bd-1", "old"),
            record("bd-2"),
            record("bd-1"),
            record("bd-2", status="tombstone"),
        ]
        board = read_jsonl(write_jsonl(tmp_path / "issues.jsonl", lines), name="f")
        assert board == Board(
            "f",
            (BEAD,),
            deleted=1,
            warnings=(
                "f: line 3 repeats the id bd-1; the last one counts.",
                "f: line 4 repeats the id bd-2; the last one counts.",
            ),
        )

    @pytest.mark.parametrize("content", ["{}", "[", ""])
    def test_mock_file_that_is_no_list(self, tmp_path: Path, content: str) -> None:
        """The mock's file must hold a JSON list."""
        (tmp_path / "beads.json").write_text(content, encoding="utf-8")
        with pytest.raises(AggregateError, match=r"replace it by a list of beads"):
            read_json_list(tmp_path / "beads.json", name="f")


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for programs outside the project."""
    return tmp_path_factory.mktemp("bin")


def read(folder: Path, programs: Path, *, timeout: float = 20, **fake: Any) -> Board | None:
    return read_bd(folder, environ=install_bd(programs, **fake), timeout=timeout)


class TestProgram:
    @pytest.mark.parametrize(
        ("output", "beads"),
        [
            (json.dumps([record("bd-1")]), (BEAD,)),
            (json.dumps({"schema_version": 1, "data": [record("bd-1")]}), (BEAD,)),
            *((empty, ()) for empty in ("[]", "null", '{"schema_version":1,"data":null}')),
        ],
    )
    def test_both_envelopes(
        self, tmp_path: Path, programs: Path, output: str, beads: tuple[Bead, ...]
    ) -> None:
        """A list is read bare or under ``data``; standard error is ignored."""
        board = read(tmp_path, programs, output=output, messages="note: 2.0 will differ\n")
        assert board == Board("bd", beads)
        assert (programs / "cwd").read_text(encoding="utf-8").strip() == str(tmp_path)

    def test_old_version_without_the_flag(self, tmp_path: Path, programs: Path) -> None:
        """If a flag is unknown, bd is called again with older flags."""
        output = json.dumps([record("bd-1")])
        board = read(tmp_path, programs, output=output, refuses="--include-gates")
        assert board == Board("bd", (BEAD,))
        assert calls(programs)[1:] == ["list --json --all --limit 0"]

    @pytest.mark.parametrize(
        ("fake", "reason"),
        [
            ({"output": "hello"}, "the output of bd is not JSON"),
            ({"output": '"text"'}, "the output of bd is not a list of beads"),
            ({"status": 3, "messages": "\nfirst\nsecond"}, "bd failed with exit status 3: first"),
            (
                {"status": 1, "messages": '{"schema_version":1,"error":"no db","code":"x"}'},
                "exit status 1: no db$",
            ),
            ({"status": 1}, "bd failed with exit status 1: no message"),
            ({"output": '[{"id":"a","dependency_count":2}]'}, "bd does not list dependencies"),
        ],
    )
    def test_failures(
        self, tmp_path: Path, programs: Path, fake: dict[str, Any], reason: str
    ) -> None:
        """Each failure is one error with its reason."""
        with pytest.raises(AggregateError, match=reason):
            read(tmp_path, programs, **fake)

    def test_hanging_program_is_stopped(self, tmp_path: Path, programs: Path) -> None:
        """A silent program is stopped in time, even if its child holds the output open."""
        with ends(), pytest.raises(AggregateError, match=r"did not answer within 0\.3 s"):
            read(tmp_path, programs, sleeps=5, timeout=0.3)

    def test_program_that_cannot_start(self, tmp_path: Path, programs: Path) -> None:
        """An executable file that cannot be run is an error, not a crash."""
        environ = install_bd(programs)
        (programs / "bd").write_bytes(b"\x7fELF broken")
        with pytest.raises(AggregateError, match="cannot be started"):
            read_bd(tmp_path, environ=environ)


class TestChoice:
    def test_failing_sources_become_warnings(self, tmp_path: Path, programs: Path) -> None:
        """If bd fails, the export is read, with a warning (M-52)."""
        write_jsonl(tmp_path / ".beads/issues.jsonl", [record("bd-1")])
        (tmp_path / ".beads/beads.db").touch()
        environ = install_bd(programs, status=1, messages="cannot connect")
        board = read_board(tmp_path, environ=environ)
        assert board == Board(
            ".beads/issues.jsonl",
            (BEAD,),
            warnings=("bd failed with exit status 1: cannot connect.",),
        )

    def test_bd_is_not_asked_about_what_it_refuses(self, tmp_path: Path, programs: Path) -> None:
        """A folder with a JSONL file alone is refused by bd, so the file is read directly."""
        write_jsonl(tmp_path / ".beads/issues.jsonl", [record("bd-1")])
        board = read_board(tmp_path, environ=install_bd(programs, status=1))
        assert board == Board(".beads/issues.jsonl", (BEAD,))

    def test_export_beside_dolt_may_be_behind(self, tmp_path: Path, programs: Path) -> None:
        """An export beside a Dolt database is read with a warning."""
        write_jsonl(tmp_path / ".beads/issues.jsonl", [record("bd-1")])
        (tmp_path / ".beads/dolt").mkdir()
        board = read_board(tmp_path, environ={})
        assert board is not None
        assert [warning[:61] for warning in board.warnings] == [
            ".beads/issues.jsonl may be older than the Dolt database; inst"
        ]
        board = read_board(tmp_path, environ=install_bd(programs))
        assert board == Board("bd")

    def test_no_reader(self, tmp_path: Path) -> None:
        """Without a reader the board is empty, with a hint."""
        (tmp_path / ".beads/dolt").mkdir(parents=True)
        board = read_board(tmp_path, environ={})
        assert board is not None
        assert board.source == ""
        assert "bd export" in board.warnings[0]
