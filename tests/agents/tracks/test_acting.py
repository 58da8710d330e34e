"""Tickets that act: a work tree each, steps that are done once whatever is killed, checks, merging, and the user's files."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from simulation.trees import commit_all, git

from aggregate import Reply, RunOptions, StateError, TrackError, conduct, count, open_project
from aggregate.agents import ScriptedReply
from aggregate.agents.tools import AllowedCommands, ChangeTools, make_tool
from aggregate.agents.tracks import (
    Assignment,
    Steps,
    TicketStatus,
    WorkerReply,
    WorkerTerms,
    attempt_assignment,
    depot,
    run_control,
    worker_tools,
)
from aggregate.agents.tracks.run_control import made_attempts, status
from aggregate.agents.tracks.worker import ScriptedWorker
from tests.fakes.acting import KeptSteps, Killed, MemoryPacks, Turns, call, calls
from tests.fakes.conducting import TRACK, asking, assigned, track_project
from tests.fakes.transports import scripted
from tests.hostile.running import in_bubblewrap

CODE = "def add(a, b):\n    return a - b\n\n\ndef double(x):\n    return x * 3\n"
MENDED = CODE.replace("a - b", "a + b")
MEND = call("replace_text", path="calc.py", old="    return a - b", new="    return a + b")
NEW = call("write_file", path="notes/new.md", content="new\n")
TOOLS = ("read_file", "replace_text", "write_file", "run_command")
CHECK = "python3 -c \"import calc; assert calc.add(1, 2) == 3, 'add is wrong'\""
COMMANDS = AllowedCommands((("python3", "-c"),))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text(CODE, encoding="utf-8")
    return folder


def terms_of(folder: Path) -> WorkerTerms:
    registry = worker_tools(folder, permissions=("read", "write"))
    return WorkerTerms(tools=registry, commands=COMMANDS)


def acting(packs: MemoryPacks, **fields: Any) -> Assignment:
    fields.setdefault("tools", TOOLS)
    return assigned("a", message="Mend it.", base=packs.ref("merged"), title="Mend", **fields)


def act(
    folder: Path,
    packs: MemoryPacks,
    model: Callable[[Any], Reply | str],
    *,
    terms: WorkerTerms | None = None,
    kept: KeptSteps | None = None,
    **fields: Any,
) -> WorkerReply:
    worker = asking(scripted(model), terms=terms or terms_of(folder))
    asked = acting(packs, **fields)
    trees = packs.trees
    try:
        return attempt_assignment(worker, asked, 1, Steps(kept=kept or KeptSteps(), trees=trees))
    finally:
        trees.close()


def files_of(packs: MemoryPacks, commit: str) -> dict[str, str]:
    """Return the files of a commit, from the packs alone."""
    with depot(packs) as repository:
        repository.take(commit)
        names = repository.git("ls-tree", "-r", "--name-only", commit).decode().splitlines()
        return {name: repository.git("show", f"{commit}:{name}").decode() for name in names}


@pytest.mark.parametrize("is_git", [False, True])
def test_a_tree_of_its_own(project: Path, is_git: bool) -> None:
    """A ticket's change is one commit on what it began with, and the user's files stay as they are (K-2).

    That is the checked out commit, or one of all files; from there on a project with git is like one without.
    """
    if is_git:
        commit_all(project)
    packs = MemoryPacks.of(project)
    model = Turns([calls(MEND), calls(NEW), calls(call("read_file", path="calc.py")), "Mended."])
    made = act(project, packs, model)
    assert (made.status, made.text, made.verified) == (TicketStatus.DONE, "Mended.", False)
    assert files_of(packs, made.commit) == {"calc.py": MENDED, "notes/new.md": "new\n"}
    assert packs.packs[made.commit].parents == (packs.ref("base"),)
    assert "return a + b" in model.told[2]  # it reads what it wrote
    assert (project / "calc.py").read_text() == CODE
    assert not (project / "notes").exists()


def test_a_question_is_composed_for(project: Path) -> None:
    """What matters for a question is shown as the tree has it, within the budget that the model names."""
    packs = MemoryPacks.of(project)
    ask = call("compose", question="How does double work?", tokens=500)
    model = Turns(
        [calls(call("replace_text", path="calc.py", old="x * 3", new="x * 2")), calls(ask), "x"]
    )
    act(project, packs, model, tools=(*TOOLS, "compose"))
    assert "return x * 2" in model.told[1]
    assert count(model.told[1]) <= 500


FOUND = {
    "double": "1 definition of double\ncalc.py:5-6 function double: def double(x):\n0 uses of double",
    "make numbers twice as large, double them": "1. calc.py\n   def add(a, b):\n   def double(x):",
}


@pytest.mark.parametrize("query", FOUND)
def test_definitions_are_found(project: Path, query: str) -> None:
    """By a name with where it stands and is used, by a task's words with the likeliest files and signatures."""
    packs = MemoryPacks.of(project)
    model = Turns([calls(call("find_definitions", query=query)), "x"])
    act(project, packs, model, tools=("find_definitions",))
    assert FOUND[query] in model.told[0]


def test_the_same_change_is_the_same_commit(project: Path) -> None:
    """Whoever makes a change, and when, its commit has the same name."""
    packs = MemoryPacks.of(project)
    commits = {act(project, packs, Turns([calls(MEND), "Done."])).commit for _ in range(2)}
    assert len(commits) == 1


def test_what_cannot_be_replaced_is_told(project: Path) -> None:
    """A text that is not there once is refused with the lines that are most like it, or with where it stands."""
    packs = MemoryPacks.of(project)
    model = Turns([
        calls(call("replace_text", path="calc.py", old="  return a-b", new="x")),
        calls(call("replace_text", path="calc.py", old="return", new="x")),
        calls(call("write_file", path="calc.py", content="x")),
        calls(call("write_file", path="../out.py", content="x")),
        calls(call("write_file", path=".git/hooks/x", content="x")),
        calls(call("write_file", path=".env", content="x")),
        "I give up.",
        "I give up.",
    ])  # fmt: skip
    made = act(project, packs, model)
    nearest, twice, exists, outside, hook, secret, reminder = model.told
    assert nearest.endswith("the nearest lines are:\n    return a - b")
    assert "old occurs 2 times, from lines 2, 6: give more lines around it" in twice
    assert "exists: change it with replace_text" in exists
    assert all("error: " in each for each in (outside, hook, secret))
    assert reminder.startswith("You have changed no file.")
    assert (made.status, made.commit) == (TicketStatus.UNCHANGED, "")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_replacement_keeps_line_ends(tmp_path: Path, line_end: str) -> None:
    """Models write LF; the file's own line ends stay, and lines are counted by them (M-X18)."""
    path = tmp_path / "a.py"
    path.write_bytes("a = 1\nb = 2\nc = 3\n".replace("\n", line_end).encode())
    reply = ChangeTools(tmp_path).replace_text("a.py", "b = 2\nc", "b = 4\nd")
    assert reply == "replaced in a.py, from line 2"
    assert path.read_bytes() == "a = 1\nb = 4\nd = 3\n".replace("\n", line_end).encode()


def test_who_changes_nothing_is_asked_once_more(project: Path) -> None:
    """A ticket with editing tools that answers at once may still act; then it is done (K-7)."""
    packs = MemoryPacks.of(project)
    model = Turns(["It is mended.", calls(MEND), "Mended."])
    made = act(project, packs, model)
    assert model.told[0].startswith("You have changed no file.")
    assert (made.status, bool(made.commit)) == (TicketStatus.DONE, True)


def test_every_step_is_done_once(project: Path) -> None:
    """Killed before or behind the record of any step, an attempt goes on to the same commit, on another machine too.

    What was recorded is not done again, a writing call is made on what was recorded, and one of the user's own that
    writes elsewhere is never made twice (K-4).
    """
    packs = MemoryPacks.of(project)
    written: list[str] = []

    def note(text: str) -> str:
        """Write elsewhere."""
        written.append(text)
        return "noted"

    terms = terms_of(project)
    terms.tools.add(make_tool(note, permissions="write"))
    said: list[Reply | str] = [
        calls(call("read_file", path="calc.py")),
        calls(MEND),
        calls(call("note", text="n")),
        calls(NEW),
        "Done.",
    ]
    whole = KeptSteps()
    expected = act(project, packs, Turns(said), terms=terms, kept=whole, tools=(*TOOLS, "note"))
    assert " ".join(whole.names) == "turn calls turn write turn begin write turn write turn"
    for place in range(len(whole.records)):
        for is_recorded in (False, True):
            written.clear()
            model = Turns(said)
            kept = KeptSteps(ends_at=place, is_recorded=is_recorded)
            with pytest.raises(Killed):
                act(project, packs, model, terms=terms, kept=kept, tools=(*TOOLS, "note"))
            requests = len(model.asked)
            again = KeptSteps(kept.records)
            made = act(project, packs, model, terms=terms, kept=again, tools=(*TOOLS, "note"))
            assert (made.text, made.commit) == ("Done.", expected.commit)
            assert len(written) <= 1
            # Between the two records of its call nobody knows whether the note was written.
            broken_off = any("interrupted" in told for told in model.told)
            assert broken_off is ((place, is_recorded) in {(5, True), (6, False)})
            repeats = whole.names[place] == "turn" and not is_recorded
            assert len(model.asked) - requests == len(said) - requests + repeats


@in_bubblewrap
def test_a_check_that_counts(project: Path) -> None:
    """A check's output goes back into the loop; done means that it has succeeded (K-5)."""
    packs = MemoryPacks.of(project)
    model = Turns(["Nothing is to be done.", calls(MEND), "Mended."])
    made = act(project, packs, model, verify=CHECK)
    assert (made.status, made.text, made.verified) == (TicketStatus.DONE, "Mended.", True)
    assert "You are not done yet: the check" in model.told[0]
    assert "AssertionError: add is wrong" in model.told[0]
    # and nothing that the check has left
    assert files_of(packs, made.commit) == {"calc.py": MENDED}
    never = act(project, packs, Turns(["No."] * 5), verify=CHECK, attempts=2)
    assert (never.status, never.again) == (TicketStatus.FAILED, False)
    assert "failed 2 times: exit code 1" in never.text


@pytest.mark.parametrize("verify", ["rm -rf .", "python3 calc.py", "'"])
def test_no_project_runs_a_command(project: Path, verify: str) -> None:
    """A check, and a command that a model names, is run only where the worker's user allows it."""
    packs = MemoryPacks.of(project)
    made = act(project, packs, Turns(["x"]), verify=verify)
    assert (made.status, made.again, made.tokens) == (TicketStatus.FAILED, False, 0)
    model = Turns([calls(call("run_command", command=verify)), "No."])
    act(project, packs, model)
    assert model.told[0].startswith("error: ")


@in_bubblewrap
def test_a_command_sees_its_tree_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no network, no key and no file of the user's; what it writes in its tree is part of the change."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "very-secret")
    packs = MemoryPacks.of(project)
    program = (
        "import os, pathlib; print(sorted(os.environ)); pathlib.Path('made.txt').write_text('x'); "
        f"print(os.path.exists({str(project)!r}), os.path.exists('/etc/passwd'))"
    )
    reach = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    make = f'python3 -c "{program}"'
    model = Turns(
        [
            calls(call("run_command", command=make)),
            calls(call("run_command", command=f'python3 -c "{reach}"')),
            "x",
        ]
    )
    made = act(project, packs, model)
    assert model.told[0].startswith("exit code 0")
    assert "False False" in model.told[0]
    assert "ANTHROPIC" not in model.told[0]
    assert "unreachable" in model.told[1]
    assert files_of(packs, made.commit)["made.txt"] == "x"


@in_bubblewrap
def test_a_repository_in_a_tree_is_none(project: Path) -> None:
    """A command that makes a repository, with programs in its configuration, makes a plain folder of it."""
    packs = MemoryPacks.of(project)
    program = "import os; os.makedirs('sub/.git/objects'); open('sub/x', 'w').write('x'); open('.git', 'w').write('gitdir: /tmp')"
    model = Turns([calls(call("run_command", command=f'python3 -c "{program}"')), "x"])
    made = act(project, packs, model)
    assert files_of(packs, made.commit) == {"calc.py": CODE, "sub/x": "x"}


@in_bubblewrap
def test_links_are_no_way_out(project: Path, tmp_path: Path) -> None:
    """What a link in a tree leads to is neither read nor written."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("hidden")
    packs = MemoryPacks.of(project)
    program = f"import os; os.symlink({str(outside)!r}, 'out'); os.symlink({str(outside / 'x.txt')!r}, 'x.txt')"
    model = Turns([
        calls(call("run_command", command=f'python3 -c "{program}"')),
        calls(call("read_file", path="x.txt")),
        calls(call("replace_text", path="x.txt", old="hidden", new="y")),
        calls(call("write_file", path="out/y.txt", content="y")),
        "x",
    ])  # fmt: skip
    act(project, packs, model)
    assert all(told.startswith("error: ") for told in model.told[1:])
    assert [path.name for path in outside.iterdir()] == ["x.txt"]
    assert (outside / "x.txt").read_text() == "hidden"


@dataclass
class Scripts:
    """A project with a track, and what the scripted worker does on its tickets."""

    folder: Path
    answers: dict[str, ScriptedReply]
    database: str = ""
    told: list[str] = field(default_factory=list)

    def run(self, **options: Any) -> Any:
        worker = ScriptedWorker(self.answers, terms_of(self.folder))
        chosen = RunOptions(database=self.database, terms=terms_of(self.folder), **options)
        return conduct(self.project, TRACK, worker, options=chosen, tell=self.told.append)

    @property
    def project(self) -> Any:
        return open_project(self.folder / "manual_slop.toml")

    def apply(self) -> list[str]:
        return run_control.apply(self.project, TRACK, database=self.database)


def edit(old: str, new: str, *, path: str = "src/one.py", text: str = "Done.") -> ScriptedReply:
    made = {"tool": "replace_text", "path": path, "old": old, "new": new}
    return ScriptedReply.model_validate({"text": text, "calls": [made]})


def scripts(
    tmp_path: Path,
    tickets: list[dict[str, Any]],
    answers: dict[str, ScriptedReply],
    *,
    is_git: bool = True,
) -> Scripts:
    """Return a project whose tickets all may replace texts."""
    rows = []
    for ticket in tickets:
        values = {
            "prompt": "Do it.",
            "tools": ["replace_text", "read_file"],
            "retries": 0,
            **ticket,
        }
        rows += ["[[tickets]]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    folder = track_project(tmp_path / "p", "\n".join(rows), **{".gitignore": "md_gen/\n"})
    if is_git:
        commit_all(folder)
    return Scripts(folder, answers, str(tmp_path / "runs.sqlite"))


TWO = "def two() -> int:\n    return 2\n"


def test_changes_are_merged_and_applied(tmp_path: Path) -> None:
    """What tickets change is merged, those that depend on others see it, and the user's files change by apply alone."""
    run = scripts(
        tmp_path,
        [{"id": "one"}, {"id": "two"}, {"id": "sum", "depends_on": ["one", "two"]}],
        {
            "one": edit("return 1", "return 10"),
            "two": edit("return 2", "return 20", path="src/two.py"),
            "sum": edit("return 10", "return 30"),
        },
    )
    result = run.run()
    assert result.succeeded
    assert [line.state for line in result.lines] == ["done, unverified"] * 3
    assert (run.folder / "src/two.py").read_text() == TWO
    assert "+    return 10" in run_control.diff(run.project, TRACK, "one", database=run.database)
    assert "+    return 30" in run_control.diff(run.project, TRACK, database=run.database)
    assert "now +" not in run_control.diff(run.project, TRACK, "two", database=run.database)
    assert run.apply() == ["src/one.py", "src/two.py"]
    assert (run.folder / "src/one.py").read_text() == "def one() -> int:\n    return 30\n"
    assert run.apply() == []
    branches = git(run.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/aggregate")
    assert branches.decode().split() == [
        f"aggregate/{TRACK}/{name}" for name in ("one", "sum", "two")
    ]
    for _ in range(2):
        run_control.drop(run.project, TRACK, database=run.database)
        assert git(run.folder, "for-each-ref", "refs/heads/aggregate") == b""
    with pytest.raises(TrackError, match="changed no files"):
        run.apply()
    with pytest.raises(StateError, match='end the run with "conduct cancel"'):
        run.run(retry=("one",))  # on a state that was dropped


def test_what_the_user_has_changed_is_not_overwritten(tmp_path: Path) -> None:
    """A file that has changed since the run began refuses all of it; nothing is written, in a project without git too."""
    run = scripts(
        tmp_path,
        [{"id": "one"}, {"id": "two"}],
        {
            "one": edit("return 1", "return 10"),
            "two": edit("return 2", "return 20", path="src/two.py"),
        },
        is_git=False,
    )
    run.run()
    mine = TWO.replace("2", "3")
    (run.folder / "src/two.py").write_text(mine)
    with pytest.raises(TrackError, match=r"src/two\.py has changed since the run began"):
        run.apply()
    assert (run.folder / "src/two.py").read_text() == mine
    assert "return 1\n" in (run.folder / "src/one.py").read_text()
    (run.folder / "src/two.py").write_bytes(
        TWO.replace("\n", "\r\n").encode()
    )  # its ends of lines alone
    assert run.apply() == ["src/one.py", "src/two.py"]
    assert (run.folder / "src/two.py").read_bytes() == b"def two() -> int:\r\n    return 20\r\n"


def test_a_conflict_runs_again_on_the_merged_tree(tmp_path: Path) -> None:
    """Tickets that write the same line at once each run once more on what the others left, and none is lost (K-3)."""
    names = [f"t{number}" for number in range(3)]
    run = scripts(
        tmp_path,
        [{"id": name} for name in names],
        {name: edit("    return 1", f"    # {name}\n    return 1") for name in names},
    )
    events: list[str] = []
    worker = ScriptedWorker(run.answers, terms_of(run.folder))
    options = RunOptions(database=run.database, terms=terms_of(run.folder))
    result = conduct(
        run.project,
        TRACK,
        worker,
        options=options,
        observe=lambda each: events.append(f"{each.status.value} {each.detail}"),
    )
    assert result.succeeded
    assert "started again, because others have changed src/one.py" in events
    run.apply()
    lines = (run.folder / "src/one.py").read_text().splitlines()
    assert sorted(lines[1:-1]) == [f"    # {name}" for name in names]
    made = [made_attempts(run.project, TRACK, name, database=run.database) for name in names]
    assert max(each.round for attempts in made for each in attempts) == 2


def test_each_attempt_is_shown(tmp_path: Path) -> None:
    """Attempts have their calls and their causes; the first cause stands beside the last."""
    reply = replace_reply(edit("return 1", "return 10"), fail="no luck", failures=1)
    run = scripts(tmp_path, [{"id": "one", "retries": 1}], {"one": reply})
    run.run()
    first, second = made_attempts(run.project, TRACK, "one", database=run.database)
    assert first.state == "failed: no luck"
    assert (second.state, [(line["event"], line.get("tool")) for line in second.lines]) == (
        "done",
        [("turn", None), ("call", "replace_text"), ("turn", None)],
    )
    progress = status(run.project, TRACK, database=run.database)
    assert progress is not None
    assert progress.lines[0].end.errors == ("no luck",)
    with pytest.raises(TrackError, match='no such ticket in this run: "lost"'):
        made_attempts(run.project, TRACK, "lost", database=run.database)


def replace_reply(reply: ScriptedReply, **fields: Any) -> ScriptedReply:
    return reply.model_copy(update=fields)
