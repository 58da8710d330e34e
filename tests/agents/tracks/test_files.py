"""The Conductor's files: written for a new track, read in both forms, and changed by one mark and nothing else."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import OutputError, TrackError
from aggregate.agents.tracks import Ticket, TicketOutcome, TicketStatus, new_track, open_track
from aggregate.agents.tracks.report import ReportLine, last_number, report_text
from aggregate.agents.tracks.track import Checkbox, mark_track, read_tracks_file
from aggregate.cli.program import run_program
from tests.fakes.conducting import TRACK, track_project
from tests.projects import project

REGISTER = """\
# Project Tracks

This file tracks all major tracks. `- [ ] **Track: none**` is how one looks.

---

- [x] **Track: Parse [all] of it**
*Link: [./tracks/parse_20260101/](./tracks/parse_20260101/)*

---

## [~] Track: An old entry
*Link: [./conductor/tracks/old_20251220/](./conductor/tracks/old_20251220/)*

```markdown
- [ ] **Track: An example**
*Link: [./tracks/example_1/](./tracks/example_1/)*
```

- [ ] **Track: With an index**
  *Link: [here](./tracks/new_20260202/index.md)*
- [ ] **Track: Without a link**
"""


def test_the_number_of_the_last_run(tmp_path: Path) -> None:
    """It is that of the last folder of the track; one whose number no run has, as a project may bring, is none."""
    for name in ("a_002", "a_010", "a_b_011", f"a_{10**9}", f"a_{10**100}", "a_x"):
        (tmp_path / name).mkdir()
    assert last_number(tmp_path, "a") == 10
    assert last_number(tmp_path, "c") == 0


def test_both_forms_of_the_register() -> None:
    """The entry's line says description and mark, the link below it the id; what is fenced is no entry."""
    assert [
        (one.track_id, one.description, one.checkbox) for one in read_tracks_file(REGISTER)
    ] == [
        ("parse_20260101", "Parse [all] of it", Checkbox.DONE),
        ("old_20251220", "An old entry", Checkbox.STARTED),
        ("new_20260202", "With an index", Checkbox.OPEN),
        ("", "Without a link", Checkbox.OPEN),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_one_mark_of_the_register_changes(newline: str) -> None:
    """Setting a mark changes that character, in either form and with either line end."""
    text = REGISTER.replace("\n", newline)
    assert mark_track(text, "old_20251220", Checkbox.DONE) == text.replace("## [~]", "## [x]")
    assert mark_track(text, "new_20260202", Checkbox.STARTED) == text.replace(
        "[ ] **Track: With an", "[~] **Track: With an"
    )
    assert mark_track(text, "example_1", Checkbox.DONE) == text


MARKED = st.builds(
    "{}- [{}] {}".format,
    st.sampled_from(["", "    "]),
    st.sampled_from(" ~x"),
    st.text(max_size=12),
)
TRICKY = ("```", "~~~~", "# Phase", "", "- [ ] **Track: a**", "*Link: [b](./tracks/b_1/)*", "## [x] Track: c")  # fmt: skip
LINES = MARKED | st.sampled_from(TRICKY) | st.text(max_size=20)


@given(st.lists(LINES), st.sampled_from(["\n", "\r\n"]), st.sampled_from(list(Checkbox)))
def test_nothing_but_marks_changes(lines: list[str], newline: str, mark: Checkbox) -> None:
    """Whatever the file holds, every byte outside the brackets stays, and setting a mark twice changes nothing."""
    text = newline.join(lines)
    once = mark_track(text, "b_1", mark)
    differing = [(a, b) for a, b in zip(text, once, strict=True) if a != b]
    assert all(a in " ~xX" and b == mark.value for a, b in differing)
    assert mark_track(once, "b_1", mark) == once


def test_the_mark_of_a_track(tmp_path: Path) -> None:
    """It stands in the register; the same mark again touches no file."""
    folder = track_project(tmp_path, "")
    track, register = open_track(folder, TRACK), folder / "conductor/tracks.md"
    track.mark(Checkbox.STARTED)
    assert "- [~] **Track: A demo**" in register.read_text()
    before = register.stat().st_mtime_ns
    track.mark(Checkbox.STARTED)
    assert register.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "there is no track gone: it has a_1, a_2, b_1"),
        ("a", r"a is the beginning of several tracks' ids \(a_1, a_2\): write a longer beginning"),
        ("b", "the track b_1 has no folder"),
    ],
)
def test_tracks_that_cannot_be_opened(tmp_path: Path, name: str, message: str) -> None:
    """A name that fits none or several, and an entry without a folder, are one sentence each."""
    entries = "".join(
        f"- [ ] **Track: {one}**\n*Link: [x](./tracks/{one}/)*\n" for one in ("a_1", "a_2", "b_1")
    )
    folder = project(tmp_path, {"conductor/tracks.md": entries, "conductor/tracks/a_1/plan.md": ""})
    assert open_track(folder, "a_1").track_id == "a_1"
    with pytest.raises(TrackError, match=message):
        open_track(folder, name)


def test_links_cannot_leave_the_folder() -> None:
    """The id is the last part of the link and must be a plain name, in whatever script, written out or escaped."""
    entry = "- [ ] **Track: a**\n*Link: [x]({})*\n"
    made = {
        "../../etc/": "etc", "..": "", "a b": "", "/x/..": "", "t_1/spec.md": "t_1", "./tracks/größe_1/": "größe_1",
        "./tracks/gr%C3%B6%C3%9Fe_1/": "größe_1", "%2e%2e/": "",
    }  # fmt: skip
    assert {link: read_tracks_file(entry.format(link))[0].track_id for link in made} == made


def test_conductors_that_mark_at_once(tmp_path: Path) -> None:
    """Of marks that are set at the same moment none is lost."""
    register = "".join(f"- [ ] **Track: {i}**\n*Link: [x](./tracks/t_{i}/)*\n" for i in range(8))
    files = {
        "conductor/tracks.md": register,
        **{f"conductor/tracks/t_{i}/spec.md": "" for i in range(8)},
    }
    folder = project(tmp_path, files)
    first = open_track(folder, "t_0")

    def mark(number: int) -> None:
        open_track(folder, f"t_{number}").mark(Checkbox.DONE)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(mark, range(8)))
    assert first.tracks_file.read_text(encoding="utf-8") == register.replace("[ ]", "[x]")


def failed(name: str, error: str) -> ReportLine:
    end = TicketOutcome.without_worker(name, TicketStatus.FAILED, error)
    return ReportLine(Ticket(id=name, prompt="x"), end)


def test_a_flood_of_failures_is_counted_in_the_report() -> None:
    """Failures that are long together are shortened and counted; short ones stand whole."""
    lines = [failed(f"t{n}", "word " * 20_000) for n in range(200)]
    report = report_text("A title", lines, {}, ["w" * 100_000])
    assert len(report) < 20_000
    assert "... and 180 more, 200 in all" in report
    assert "files of failed tickets" in report
    short = report_text("A title", [failed("t", "no key")], {})
    assert "```text\nt: no key\n```" in short
    assert "files of failed tickets" not in short


DAY = datetime(2026, 1, 31, tzinfo=UTC)


def folder_with(tmp_path: Path) -> Path:
    return project(tmp_path, {"manual_slop.toml": '[project]\nname = "p"\n'})


def test_a_track_from_a_question(tmp_path: Path) -> None:
    """Its files are those that the Conductor has, and its tickets run as they are and name all keys; others' entries stay."""
    folder = folder_with(tmp_path)
    tickets = new_track(folder, "Why so slow?", time=DAY, question='Why "now"?')
    assert tickets.parent.name == "why_so_slow_20260131"
    assert [ticket.id for ticket in open_track(folder, "why").tickets().tickets] == [
        "research",
        "answer",
    ]
    comment = [line for line in tickets.read_text().splitlines() if line.startswith("#")]
    named = " ".join(comment).replace("# ", "").partition(": ")[2].rstrip(".").split(", ")
    assert named == list(Ticket.model_fields)
    new_track(folder, "Another", time=DAY)
    register = (folder / "conductor/tracks.md").read_text()
    assert register.count("- [ ] **Track: ") == 2
    assert open_track(folder, "why").folder == tickets.parent
    with pytest.raises(TrackError, match="this track already exists"):
        new_track(folder, "Another", time=DAY)
    with pytest.raises(TrackError, match="no letter"):
        new_track(folder, "?!", time=DAY)


def test_a_link_that_leads_out(tmp_path: Path) -> None:
    """A project's own links lead no file of the track elsewhere."""
    folder = folder_with(tmp_path / "p")
    (tmp_path / "elsewhere").mkdir()
    (folder / "conductor").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match="leads out of the project"):
        new_track(folder, "Out", time=DAY)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the path of the tickets."""
    folder = folder_with(tmp_path)
    config = ["-c", str(folder / "manual_slop.toml")]
    assert run_program(["conduct", "new", "Words", *config]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()
