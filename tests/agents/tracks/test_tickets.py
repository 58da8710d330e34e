"""The tickets of a track: what may be written, what is refused before anything runs, and in which order they go."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import ConfigError, open_project
from aggregate.agents.results import FailurePolicy
from aggregate.agents.tracks import Ticket, TicketStatus, WorkerContexts, open_track
from aggregate.agents.tracks.track_run import Schedule
from tests.fakes.conducting import TRACK, track_project

FULL = """\
on_error = "fail"

[[tickets]]
id = "a"
title = "Look at a"
prompt = "Look."
focus_files = ["one.py"]
collect_into = "$found"
merge_strategy = "custom"
custom_function = "lambda results: len(results)"
aggregation_strategy = "summarize"
persona = "brief"
tools = ["read_file"]
timeout = 30
retries = 0

[[tickets]]
id = "b"
prompt = "Go on."
depends_on = ["$found", "a"]
"""


def read(folder: Path, text: str) -> Any:
    """Write the tickets of a track and read them."""
    return open_track(track_project(folder, text), TRACK).tickets()


def test_every_key(tmp_path: Path) -> None:
    """Every key is read; what is left out has its default; a variable stands for all who collect into it."""
    loaded = read(tmp_path, FULL)
    first, second = loaded.tickets
    assert (loaded.on_error, first.tools, first.timeout) == ("fail", ("read_file",), 30)
    assert first.custom_function == "lambda results: len(results)"
    assert second == Ticket(id="b", prompt="Go on.", depends_on=("$found", "a"))
    assert (second.name, second.variable, second.retries, second.timeout) == ("b", "b", 2, 600)
    waits_for = Schedule(loaded.tickets).waits_for
    assert {name: [*others] for name, others in waits_for.items()} == {"a": [], "b": ["a"]}


ONE = '[[tickets]]\nid = "a"\nprompt = "x"\n'
TWO = ONE + '[[tickets]]\nid = "b"\nprompt = "x"\n'
REFUSED = [
    ("", ": there are no tickets: add a [[tickets]] table with id and prompt"),
    (ONE + 'focus = "y"\n', ':4: unknown key "tickets[0].focus": did you mean "focus_files"?'),
    ("on_eror = 1\n" + ONE, ':1: unknown key "on_eror": did you mean "on_error"?'),
    ('[[tickets]]\nid = "a"\n', ':1: "tickets[0].prompt" is missing: add it'),
    (ONE + "retries = 11\n", ':4: "tickets[0].retries": input should be less than or equal to 10, not 11'),
    (ONE + "timeout = 0\n", ':4: "tickets[0].timeout": input should be greater than 0, not 0'),
    (ONE + 'merge_strategy = "sum"\n', ":4: \"tickets[0].merge_strategy\": input should be 'concat', 'json', 'merge', 'first', 'last' or 'custom', not 'sum'"),
    (ONE + ONE, ':5: two tickets have the id "a": rename one'),
    (ONE + 'depends_on = ["b"]\n', ':4: "a" depends on "b", but there is no such ticket: correct the name'),
    (ONE + 'depends_on = ["$b"]\n', ':4: "a" depends on "$b", but no ticket collects into it: correct the name'),
    (ONE + 'depends_on = ["a"]\n', ':4: tickets depend on each other: "a" -> "a": remove one dependency'),
    (TWO + 'depends_on = ["a"]\n[[tickets]]\nid = "c"\nprompt = "x"\ndepends_on = ["c"]\n', ':11: tickets depend on each other: "c" -> "c": remove one dependency'),
    (ONE + 'collect_into = "found"\n', ':4: "found" is not a variable: write one such as "$findings"'),
    (ONE + 'collect_into = "$"\n', ':4: "$" is not a variable: write one such as "$findings"'),
    (ONE + 'merge_strategy = "json"\n', ":4: merge_strategy needs collect_into: name the variable that is merged"),
    (ONE + 'collect_into = "$a"\nmerge_strategy = "custom"\n', ':5: custom_function and merge_strategy = "custom" need each other: set both or neither'),
    (ONE + 'collect_into = "$a"\ncustom_function = "len"\n', ':5: custom_function and merge_strategy = "custom" need each other: set both or neither'),
    ('[[tickets]]\nid = "a"\nprompt = "x"\ncollect_into = "$a"\nmerge_strategy = "json"\n[[tickets]]\nid = "b"\nprompt = "x"\ncollect_into = "$a"\nmerge_strategy = "first"\n', ':10: "a" merges $a differently: a variable has one merge_strategy'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    """Each mistake is one sentence with file and line, before anything runs (O-20, O-21, O-22, O-24, O-47)."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path}/conductor/tracks/{TRACK}/tickets.toml{message}"


@pytest.mark.parametrize("name", ["../a", "a/b", "", ".a", "a b", "x" * 65])
def test_ids_are_file_names(tmp_path: Path, name: str) -> None:
    """An id that is no plain name is refused: it becomes part of file names."""
    with pytest.raises(ConfigError, match=r'"tickets\[0\].id": string should match pattern'):
        read(tmp_path, f'[[tickets]]\nid = "{name}"\nprompt = "x"\n')


def test_a_long_cycle_is_found_without_recursion(tmp_path: Path) -> None:
    """A ring of a thousand tickets is named from its beginning to its end."""
    ticket = '[[tickets]]\nid = "t{}"\nprompt = "x"\ndepends_on = ["t{}"]\n'
    ring = "".join(ticket.format(i, (i + 1) % 1000) for i in range(1000))
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, ring)
    assert str(caught.value).count(" -> ") == 1000


def test_focus_files(tmp_path: Path) -> None:
    """A focus file may be a project's file by path or name, or any file on disk; any other is refused."""
    folder = track_project(tmp_path, dedent(ONE), **{"notes.txt": "n"})
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"))
    contexts.check(Ticket(id="a", prompt="x", focus_files=("src/one.py", "two.py", "notes.txt")))
    with pytest.raises(
        ConfigError, match=r'"a" has the focus file src/three\.py, which does not exist'
    ):
        contexts.check(Ticket(id="a", prompt="x", focus_files=("src/three.py",)))
    with pytest.raises(ConfigError, match='no such persona: "nobody"'):
        contexts.check(Ticket(id="a", prompt="x", persona="nobody"))


DONE, FAILED = TicketStatus.DONE, TicketStatus.FAILED


def scheduled(text: str, **options: Any) -> Schedule:
    """Return the order of the tickets of ``text``."""
    return Schedule(tickets(text), **options)


def tickets(text: str) -> list[Ticket]:
    """Return tickets from ``a b<-a c<-a,b``."""
    made = []
    for word in text.split():
        name, _, needs = word.partition("<-")
        waits_for = tuple(needs.split(",")) if needs else ()
        made.append(Ticket(id=name, prompt="x", depends_on=waits_for))
    return made


def waves(schedule: Schedule, most: int = 99, failing: str = "") -> list[str]:
    order = []
    while started := schedule.start(most):
        order.append("".join(one.id for one in started))
        for one in started:
            schedule.end(one.id, FAILED if one.id in failing else DONE)
    return order


def test_failed_dependencies() -> None:
    """After a failure dependents run all the same, or with ``fail`` none of them, each with its reason."""
    chain = "A B<-A C<-B D E<-D,C"
    assert waves(scheduled(chain), failing="A") == ["AD", "B", "C", "E"]
    schedule = scheduled(chain, on_error=FailurePolicy.FAIL)
    assert [one.id for one in schedule.start(9)] == ["A", "D"]
    skipped = schedule.end("A", FAILED) | schedule.end("D", DONE)
    assert schedule.finished
    assert skipped == {
        "B": 'not run: it depends on "A", which failed',
        "C": 'not run: it depends on "B", which was not run',
        "E": 'not run: it depends on "C", which was not run',
    }


@given(st.data(), st.integers(1, 4), st.sampled_from(list(FailurePolicy)))
def test_invariants(data: st.DataObject, most: int, on_error: FailurePolicy) -> None:
    """Whatever ends in whatever order: each ticket starts once after what it waits for, or is left out; nothing hangs."""
    count = data.draw(st.integers(1, 8))
    made = [
        Ticket(
            id=f"t{i}",
            prompt="x",
            depends_on=tuple(f"t{j}" for j in range(i) if data.draw(st.booleans())),
        )
        for i in range(count)
    ]
    schedule = Schedule(made, on_error)
    ended, skipped = set[str](), set[str]()
    started: list[str] = []
    while not schedule.finished:
        new = schedule.start(most - len(set(started) - ended))
        started += [one.id for one in new]
        open_ids = sorted(set(started) - ended)
        assert len(open_ids) <= most
        assert all(needed in ended for one in new for needed in schedule.waits_for[one.id])
        name = data.draw(st.sampled_from(open_ids))
        ended.add(name)
        skipped |= schedule.end(name, data.draw(st.sampled_from([DONE, FAILED]))).keys()
    assert sorted(started) == sorted({one.id for one in made} - skipped)
    assert len(set(started)) == len(started)
