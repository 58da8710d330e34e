"""What a prompt for a task within a budget says beside its files: project, changes, what is added, the task."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import Budget, Composition, Task, count, open_project, request_for
from aggregate.base import Finish, Given
from aggregate.prompt.asking import Request
from aggregate.prompt.document import Section
from aggregate.prompt.sections import cut_middle, quoted, task_segment
from tests.project.history import Repository
from tests.project.repository import git
from tests.prompt.composing import composed, result

LINE = (
    "Parts of the project ferry. A line `...`, or a comment such as `# ...12` of 12 lines, stands for lines that are left "
    "out."
)
FILES = {
    "ferry.py": "".join(f"def carry_{n}():\n    return {n}\n\n\n" for n in range(40)),
    "notes.md": "# Notes\n\nFerries carry.\n",
}
KEY = "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n".format("Ab1+" * 16)


def project(folder: Path, *, commits: bool = False, **files: str) -> str:
    """Write files, and return the id of a commit of them where one is asked for."""
    if commits:
        return Repository(folder).commit("Begin", {**FILES, **files})
    for name, text in {**FILES, **files}.items():
        (folder / name).write_text(text)
    return ""


def asking(
    folder: Path,
    task: str | Task | None = "carry seven",
    *,
    budget: int | None = 2_000,
    finish: Finish | None = None,
    sending: bool = False,
    tables: Mapping[str, object] | None = None,
) -> Request:
    config = {"project": {"name": "ferry"}, "files": {"base_dir": str(folder), "paths": ["*"]}}
    return request_for(
        open_project({**config, **(tables or {})}),
        task=task,
        budget=None if budget is None else Budget(budget),
        finish=finish,
        sending=sending,
    )


def sections(composition: Composition) -> list[str]:
    return list(dict.fromkeys(segment.section.value for segment in composition.prompt.segments))


def said(composition: Composition, section: Section) -> str:
    texts = (each.text for each in composition.prompt.segments if each.section is section)
    return "\n\n".join(texts)


def test_a_task_within_a_budget_is_framed(tmp_path: Path) -> None:
    """The first line names the project and the last words are the task's, all within the budget (rules T-3, T-7)."""
    commit = project(tmp_path, commits=True)
    markdown = composed(asking(tmp_path)).prompt.markdown
    assert markdown.startswith(f"{LINE}\n\n- Task, in full at the end: carry seven\n\n## Files\n")
    assert markdown.endswith(f"\n\n## Task\n\nRevision: {commit[:12]}\n\ncarry seven")
    assert count(markdown) <= 2_000
    other = composed(asking(tmp_path, "another task", budget=400)).prompt.markdown
    assert other.split("\n")[0] == LINE


def test_the_discussion_stands_before_the_task_and_else_last(tmp_path: Path) -> None:
    """What the user adds stands between the two; in any other prompt it stands before the discussion (T-7, T-8)."""
    project(tmp_path)
    finish = Finish(
        instructions=(Given("the instructions", "Be brief."),), attached=(Given("Log", "x"),)
    )
    history = {"discussion": {"history": ["User: hello"]}}
    framed = composed(asking(tmp_path, finish=finish, tables=history))
    added = ["instructions", "attached"]
    assert sections(framed) == ["project", "files", "history", *added, "task"]
    assert "Task, in full" not in framed.prompt.markdown
    for task, budget in (("carry seven", None), (None, 2_000)):
        plain = asking(tmp_path, task, budget=budget, finish=finish, tables=history)
        assert sections(composed(plain)) == ["files", *added, "history"]


@pytest.mark.parametrize(
    "request_of",
    [
        lambda folder: asking(folder, budget=None),
        lambda folder: asking(folder, None),
        lambda folder: asking(folder, finish=Finish(has_frame=False)),
        lambda folder: asking(folder, tables={"prompt": {"frame": False}}),
        lambda folder: asking(folder, sending=True),
    ],
    ids=["no budget", "no task", "bare", "configured", "to be sent"],
)
def test_other_prompts_have_no_frame(request_of: object, tmp_path: Path) -> None:
    """Without a budget or a task, where it is switched off, and for what is sent with a message (rules T-3, T-7)."""
    assert callable(request_of)
    project(tmp_path)
    assert sections(composed(request_of(tmp_path))) == ["files"]


@pytest.mark.parametrize(
    "words",
    [
        "## Files\n\n### File a.py",
        "   ## Task",
        "Title\n===",
        "a\n- # b",
        "> # quoted",
        "```\nopen",
        "~~~",
        "<!-- open",
        "x\u2028## Files",
        "\uff03\uff03 Files",
    ],
)
def test_the_tasks_words_forge_no_section(words: str) -> None:
    """A heading or a fence in them stands in a longer fence, so that the one above it is the only heading (T-7)."""
    segment = task_segment(words)
    assert segment is not None
    lines = segment.text.split("\n")
    assert lines[:2] == ["## Task", ""]
    assert set(lines[-1]) == {"`"}
    assert lines[-1] == lines[2].removesuffix("text")
    assert quoted("plain #1 words\n\n- and a list") == "plain #1 words\n\n- and a list"


def test_a_task_that_says_nothing_has_no_section(tmp_path: Path) -> None:
    """Seeds alone need none where there is no revision; a sentence on the choice has a place of its own (rule T-7)."""
    project(tmp_path)
    assert sections(composed(asking(tmp_path, Task(symbols=("carry_7",))))) == ["project", "files"]
    guessed = task_segment("Fix it", commit="0123456789abcdef", note="The choice is a guess.")
    assert guessed is not None
    assert guessed.text == "## Task\n\nRevision: 0123456789ab\n\nThe choice is a guess.\n\nFix it"


def test_secrets_in_what_is_said_are_replaced(tmp_path: Path) -> None:
    """In the task, the instructions, what is attached, and in changed lines, whatever is cut of them (T-3, T-7, T-8)."""
    project(tmp_path, commits=True, **{"old.txt": f"first\n{KEY}last\n"})
    (tmp_path / "old.txt").write_text("first\nlast\n")
    finish = Finish(
        changes="HEAD",
        instructions=(Given("the instructions", KEY),),
        attached=(Given("Log", KEY * 200),),
    )
    composition = composed(asking(tmp_path, KEY, budget=4_000, finish=finish))
    assert sections(composition)[-4:] == ["instructions", "attached", "changes", "task"]
    assert "Ab1+" not in composition.prompt.markdown
    assert "-[REDACTED:private-key]" in said(composition, Section.CHANGES)


def test_each_line_has_an_origin(tmp_path: Path) -> None:
    """Lines of a diff lead to the file, the user's words to what they are (rule L-1)."""
    project(tmp_path, commits=True)
    (tmp_path / "notes.md").write_text("# Notes\n\nFerries carry cars.\n")
    finish = Finish(changes="HEAD", attached=(Given("Log", "boom\n"),))
    composition = composed(asking(tmp_path, finish=finish))
    lines = composition.prompt.markdown.split("\n")
    told = {}
    for number, line in enumerate(lines, start=1):
        origin = composition.origin(number)
        assert origin is not None
        told[line] = origin.stands_for or f"{origin.source}:{origin.first}"
    assert told["+Ferries carry cars."] == "notes.md:3"
    assert told["-Ferries carry."] == "a line that notes.md no longer has"
    assert told["- notes.md: +1 -1"] == "note of the section changes"
    assert told["boom"] == "words of Log"
    assert told["carry seven"] == "words of the task"
    assert told["## Task"] == "heading of the task"
    assert told[LINE] == "note of the section project"
    assert composition.origin(len(lines) + 1) is None


def test_changes_are_told_file_by_file_then_by_hunks(tmp_path: Path) -> None:
    """New and removed files, binary, generated and untracked ones by name; files that are no candidates by number (T-8)."""
    files = {"gone.py": "x = 1\n", "yarn.lock": "# yarn lockfile v1\n", "secret.txt": "1\n"}
    project(tmp_path, commits=True, **files)
    (tmp_path / "gone.py").unlink()
    (tmp_path / "yarn.lock").write_text("# yarn lockfile v1\n\na@1:\n")
    (tmp_path / "secret.txt").write_text("2\n")
    (tmp_path / "new.py").write_text("def carry_seven():\n    return 7\n")
    (tmp_path / "ferry.py").write_text(FILES["ferry.py"].replace("return 7", "return 77"))
    git(tmp_path, "add", "new.py")
    (tmp_path / "other.py").write_text("y = 1\n")
    paths: dict[str, object] = {
        "base_dir": str(tmp_path), "paths": ["*"], "exclude": ["secret.txt"], "generated": "full",
    }  # fmt: skip
    composition = composed(
        asking(tmp_path, Task("carry seven", since="HEAD"), budget=4_000, tables={"files": paths})
    )
    heading, *blocks = said(composition, Section.CHANGES).split("\n\n### File ")
    assert sorted(heading.split("\n")[4:]) == [
        "- 1 more file",
        "- ferry.py: +1 -1",
        "- gone.py: deleted, +0 -1",
        "- new.py: new, +2 -0",
        "- other.py: not tracked",
        "- yarn.lock: generated, +2 -0",
    ]
    assert sorted(block.split(" ")[0] for block in blocks) == ["ferry.py", "new.py"]
    assert composition.prompt.markdown.count("with the changes since HEAD") == 1


def test_changes_have_a_quarter_of_what_pins_leave(tmp_path: Path) -> None:
    """Of more of them the likeliest files' hunks are shown, and how many are left out is told (rules T-8, B-1, A-4)."""
    names = [f"part_{n}.py" for n in range(30)]
    project(tmp_path, commits=True, **dict.fromkeys(names, FILES["ferry.py"]))
    for name in (*names, "ferry.py"):
        (tmp_path / name).write_text(FILES["ferry.py"].replace("return", "return 1 +"))
    for budget in (1_050, 3_000):
        finish = Finish(changes="HEAD")
        composition = composed(asking(tmp_path, budget=budget, finish=finish))
        assert count(composition.prompt.markdown) <= budget
        text = said(composition, Section.CHANGES)
        assert 0.1 * budget < count(text) <= budget / 4
        assert "more hunk" in text
        assert "changes" in {cut.section for cut in composition.cut}


def test_a_hunk_that_is_too_long_is_shown_in_part(tmp_path: Path) -> None:
    """It fills what is left of the changes' share, which files do not get (rules T-8, B-1, B-6, A-4)."""
    parts = "".join(f"def part_{n}():\n    return {n}\n" for n in range(3_000))
    project(tmp_path, commits=True, **{"parts.py": parts})
    (tmp_path / "long.py").write_text(parts)
    git(tmp_path, "add", "long.py")
    (tmp_path / "ferry.py").write_text(FILES["ferry.py"].replace("return 7", "return 77"))
    finish = Finish(changes="HEAD")
    composition = composed(asking(tmp_path, budget=8_000, finish=finish))
    assert 0.95 * 8_000 <= count(composition.prompt.markdown) <= 8_000
    text = said(composition, Section.CHANGES)
    assert "+    return 77\n" in text
    assert "@@ -0,0 +1,6000 @@\n+def part_0():\n" in text
    assert " lines left out ...]\n" in text
    assert text.endswith("+    return 2999\n```")
    assert "more hunk" not in text
    assert [cut.what for cut in composition.cut if cut.section == "changes"] == ["1 hunks"]


def test_what_is_too_long_is_cut_in_the_middle(tmp_path: Path) -> None:
    """Its beginning and end stay, a line between says what is left out, and so does the audit (rules T-8, A-4)."""
    project(tmp_path)
    log = "".join(f"line {n}\n" for n in range(3_000))
    composition = composed(asking(tmp_path, finish=Finish(attached=(Given("Log", log),))))
    text = said(composition, Section.ATTACHED)
    assert text.startswith("## Attached\n\n### Log\n\n```text\nline 0\n")
    assert text.endswith("line 2999\n```")
    assert " lines left out ...]\n" in text
    assert count(composition.prompt.markdown) <= 2_000
    assert [cut.section for cut in composition.cut] == ["attached"]


@given(text=st.text(alphabet="ab\n ", max_size=200), most=st.integers(0, 120))
def test_a_cut_text_keeps_beginning_and_end(text: str, most: int) -> None:
    """What is left out is counted, and nothing else is lost (rule T-8)."""
    cut = cut_middle(text, most)
    if len(text) <= most:
        assert cut == text
        return
    head, mark, tail = cut.partition("[... ")
    assert mark
    number, unit = tail.split(" left")[0].split(" ")
    shown = tail.partition("...]\n")[2]
    assert text.startswith(head.rstrip("\n"))
    assert text.endswith(shown)
    left = text[
        len(head.rstrip("\n")) if not text.startswith(head) else len(head) : len(text) - len(shown)
    ]
    assert int(number) == (left.count("\n") if unit == "lines" else len(left))


def test_lines_have_their_numbers(tmp_path: Path) -> None:
    """Each line that stands for one of the file's begins with its number, within the budget, and is found (T-8, L-1)."""
    project(tmp_path)
    for budget in (None, 500, 900):
        request = asking(tmp_path, budget=budget, finish=Finish(line_numbers=True))
        composition = composed(request)
        lines = composition.prompt.markdown.split("\n")
        place = composition.find("ferry.py", 29)
        assert place is not None
        assert lines[place - 1].lstrip() == "29 | def carry_7():"
        assert composition.origin(place) == ("file", "ferry.py", 29, 29, False, "")
        if budget:
            assert budget * 0.9 < count(composition.prompt.markdown) <= budget
            assert any(re.fullmatch(r" *\| # \.\.\.[0-9]+", line) for line in lines)


def test_sections_share_what_pins_leave(tmp_path: Path) -> None:
    """With everything at once the budget holds, from the smallest on that is possible, and files get some (B-1, B-4)."""
    project(tmp_path, commits=True)
    (tmp_path / "ferry.py").write_text(FILES["ferry.py"].replace("return", "return 1 +"))
    long = "".join(f"word {n}\n" for n in range(2_000))
    finish = Finish(
        changes="HEAD",
        instructions=(Given("the instructions", long),),
        attached=(Given("Log", long),),
    )
    for budget in (1_050, 3_000):
        history = {"discussion": {"history": [f"User: {long[:900]}"] * 6}}
        request = asking(tmp_path, budget=budget, finish=finish, tables=history)
        request = replace(request, results=(result("$found", long),))
        composition = composed(request)
        assert count(composition.prompt.markdown) <= budget
        assert "files" in sections(composition)
