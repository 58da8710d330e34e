"""Where each line of a prompt comes from: views, other sections, diffs, and blocks that were sent before."""

import json
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from aggregate import (
    AggregatedResult,
    Budget,
    Composition,
    MergeStrategy,
    Prompt,
    Segment,
    Task,
    ViewMode,
    compose_prompt,
    open_project,
    request_for,
)
from aggregate.base import ShownText, Span
from aggregate.base.redaction import AS_THEY_ARE, Redaction
from aggregate.prompt import AskedViews, File, GroupStatus
from aggregate.prompt.document import Origin, OriginKind, Section, Stability
from aggregate.prompt.files import file_block, rendered_segment
from aggregate.prompt.output import map_sources
from aggregate.prompt.sections import discussion_segments, results_segments
from aggregate.sending.cache import (
    CHANGED_HEADING,
    diff_segment,
    file_lines,
    patched,
    shown_in_older,
)
from tests.base.redaction.samples import PLANTED
from tests.fakes.prompts import file_segment
from tests.projects import project
from tests.prompt.composing import kept_nothing, shown_file

MODES = ("full", "skeleton", "outline", "summary", "masked", "custom", "none")


def _notebook(*cells: str) -> str:
    listed = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": cell.splitlines(keepends=True),
        }
        for cell in cells
    ]
    return json.dumps(
        {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


FILES = {
    "a.py": '"""Doc."""\nimport os\n\n\nclass C:\n    def one(self, x: int) -> int:\n        """Doc."""\n'
    "        y = x + 1\n        return y\n\n    def two(self): return 2\n\n\ndef three():\n    return 3\n",
    "crlf.py": "def f():\r\n    x = 1\r\n    return x\r\n\r\n\r\nY = 2\r\n",
    "no_end.go": "package b\n\nfunc Two() int {\n\tx := 1\n\treturn x\n}",
    "empty.py": "",
    "fences.md": "# One\n\n```py\nx\n```\n\n### File a.py\n\n````\nnested\n````\n## Files\n",
    "data.json": '{\n  "a": [1, 2],\n  "b": {\n    "c": 1\n  }\n}\n',
    "table.csv": "a,b\n1,2\n3,4\n",
    "book.ipynb": _notebook("x = 1\n\ndef f():\n    return x\n", "# %%\nprint(f())"),
    "bad.ipynb": "{ not json at all, but text\nof two lines\n",
    "odd.txt": "form\ffeed\u2028line\x85\r\n  \n...\n",
    "long.c": "int f(int a)\n{\n    int b = a;\n    return b;\n}\n\nstruct S { int x; };\n",
}


def composed(folder: Path, mode: str, **tables: object) -> Composition:
    entry = {
        "path": "**/*",
        "view_mode": mode,
        "ast_mask": {"C.one": "def", "three": "sig", "gone": "def"} if mode == "masked" else {},
        "custom_slices": [
            {"start_line": 2, "end_line": 3, "tag": "t"},
            {"start_line": 90, "end_line": 91},
        ]
        if mode == "custom"
        else [],
    }
    config = {
        "project": {"name": "demo"},
        "files": {"base_dir": str(folder), "paths": [entry]},
        **tables,
    }
    return compose_prompt(request_for(open_project(config)), index=kept_nothing())


def check(composition: Composition, texts: dict[str, str]) -> list[Origin]:
    """Return the origins of all lines, after making sure that what claims to be verbatim is so."""
    lines = composition.prompt.markdown.split("\n")
    origins = [*composition.source_map.origins()]
    assert len(origins) == len(lines) == composition.source_map.lines
    for number, (line, origin) in enumerate(zip(lines, origins, strict=True), start=1):
        assert composition.origin(number) == origin
        if origin.is_verbatim:
            assert origin.first == origin.last
            assert texts[origin.source].split("\n")[origin.first - 1] == line
        if origin.kind is OriginKind.FILE:
            assert 1 <= origin.first <= origin.last <= texts[origin.source].count("\n") + 1
    return origins


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strategy", ["auto", "summarize"])
def test_a_verbatim_line_is_the_files_own(mode: str, strategy: str, tmp_path: Path) -> None:
    """In each view, of odd files too, what is called verbatim is that line of the file (rule L-1)."""
    folder = project(tmp_path, {})
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    composition = composed(folder, mode, project={"name": "d"}, screenshots={})
    request = request_for(
        open_project(
            {"project": {"name": "d"}, "files": {"base_dir": str(folder), "paths": ["**/*"]}}
        ),
        views=AskedViews(strategy),
    )
    if strategy == "summarize":
        composition = compose_prompt(request, index=kept_nothing())
    origins = check(composition, FILES)
    shown = {origin.source for origin in origins if origin.is_verbatim}
    if strategy == "auto" and mode == "full":
        assert shown == FILES.keys() - {"empty.py", "book.ipynb"}
        numbers = [origin.first for origin in origins if origin.source == "crlf.py"]
        assert [number for number in numbers if number] == [*range(1, 7)]
    if strategy == "auto" and mode == "none":
        assert not shown


@pytest.mark.parametrize("budget", [250, 4_000])
@pytest.mark.parametrize("redaction", [AS_THEY_ARE, Redaction()])
def test_a_prompt_with_a_budget_has_origins(
    budget: int, redaction: Redaction, tmp_path: Path
) -> None:
    """Chosen lines are verbatim, marks tell what is left out, secrets and the remainder are told (rules L-1, B-2)."""
    texts = {**FILES, "key.py": f"first = 1\n{PLANTED[0].content}\ndef two():\n    return 2\n"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode())
    config = {"project": {"name": "d"}, "files": {"base_dir": str(tmp_path), "paths": ["**/*"]}}
    task = Task("why does two return the first key")
    request = request_for(open_project(config), task=task, budget=Budget(budget))
    request = replace(request, redaction=redaction)
    composition = compose_prompt(request, index=kept_nothing())
    origins = check(composition, texts)
    assert any(origin.is_verbatim for origin in origins)
    replaced = [origin for origin in origins if "secret" in origin.stands_for]
    assert bool(replaced) == ("[REDACTED" in composition.prompt.markdown)
    if budget < 800:
        assert "remainder" in {origin.stands_for for origin in origins}
    assert origins[-1].stands_for == "words of the task"


def test_what_stands_for_lines_says_how_many(tmp_path: Path) -> None:
    """A placeholder is generated and names the lines that are not shown, a slice's heading is a note (rule L-1)."""
    composition = composed(project(tmp_path, {"crlf.py": FILES["crlf.py"]}), "skeleton")
    number = composition.find("crlf.py", 3)
    assert number == 7
    assert composition.origin(number) == Origin(
        OriginKind.GENERATED, "crlf.py", 2, 3, False, "not shown: 2 lines of crlf.py"
    )
    told = [
        (origin.kind.value, origin.stands_for or f"{origin.source}:{origin.first}")
        for origin in composition.source_map.origins()
    ]
    assert told == [
        ("generated", "heading of the section files"),
        ("generated", "blank line"),
        ("generated", "heading of crlf.py"),
        ("generated", "blank line"),
        ("generated", "fence of crlf.py"),
        ("file", "crlf.py:1"),
        ("generated", "not shown: 2 lines of crlf.py"),
        ("file", "crlf.py:4"),
        ("file", "crlf.py:5"),
        ("file", "crlf.py:6"),
        ("generated", "fence of crlf.py"),
    ]
    assert composition.origin(0) is None
    assert composition.origin(12) is None
    assert composition.find("crlf.py", 7) is None
    assert composition.find("gone.py", 1) is None


def test_every_other_section_has_origins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns, beads, results and screenshots are named, their fences and headings are generated (rule L-1)."""
    beads = [
        {"id": "b-1", "title": "Open (one)", "status": "open", "description": "two\nlines"},
        {"id": "b-2", "title": "Done", "status": "closed"},
    ]
    folder = project(tmp_path, {"a.py": "X = 1\n", ".beads_mock/beads.json": json.dumps(beads)})
    (folder / "an image<1>.png").write_bytes(b"")
    monkeypatch.chdir(folder)
    composition = composed(
        folder,
        "full",
        files={"base_dir": str(folder), "paths": ["a.py"]},
        project={"name": "d", "execution_mode": "beads"},
        screenshots={"base_dir": str(folder), "paths": ["an image<1>.png", "gone.png"]},
        discussion={"history": ["User: hi\nthere", {"role": "AI", "content": "a\n---\nUser: b"}]},
    )
    result = AggregatedResult(
        "found", MergeStrategy.FIRST, count=1, status=GroupStatus.COMPLETE, value="x\n```\ny"
    )
    segments = (*composition.prompt.segments, *results_segments([result]))
    lines = Prompt(segments).markdown.split("\n")
    told = [
        f"{origin.kind.value}|{origin.source if origin.kind is not OriginKind.GENERATED else origin.stands_for}|{line}"
        for line, origin in zip(lines, map_sources(segments).origins(), strict=True)
        if line
    ]
    start = told.index("generated|heading of the section screenshots|## Screenshots")
    images, others = told[start:], told[:start]
    assert others[-2:] == ["file|a.py|X = 1", "generated|fence of a.py|```"]
    assert images == [
        "generated|heading of the section screenshots|## Screenshots",
        "screenshot|an image<1>.png|![an image\\<1>.png](<an image\\<1\\>.png>)",
        "screenshot|gone.png|![gone.png](gone.png) (missing)",
        "generated|heading of the section beads|## Beads Mode: Progress Track",
        "generated|note of the section beads|Source: .beads_mock/beads.json. Completed: 1. Active: 1, 1 of them ready.",
        "bead|all completed beads|Completed: Done (b-2)",
        "bead|b-1|- ready, P2 task: Open (one) (b-1)",
        "bead|b-1|  Description:",
        "bead|b-1|  ```",
        "bead|b-1|  two",
        "bead|b-1|  lines",
        "bead|b-1|  ```",
        "generated|heading of the section history|## Discussion History",
        "generated|heading of turn 1|### Discussion Excerpt 1",
        "turn|1|User: hi",
        "turn|1|there",
        "generated|rule between two turns|---",
        "generated|heading of turn 2|### Discussion Excerpt 2",
        "turn|2|AI:",
        "generated|fence of turn 2|```text",
        "turn|2|a",
        "turn|2|---",
        "turn|2|User: b",
        "generated|fence of turn 2|```",
        "generated|heading of the section results|## Sub-Agent Results",
        "generated|heading of found|### found",
        "result|found|first of 1 result",
        "generated|fence of found|````text",
        "result|found|x",
        "result|found|```",
        "result|found|y",
        "generated|fence of found|````",
    ]


def test_a_diff_stands_for_the_lines_that_a_file_has_now() -> None:
    """Lines of a diff lead to the file as it is now, but for those that it has no longer (rule L-1)."""
    older = file_block("a.py", "".join(f"{n}\n" for n in range(1, 9)))
    now = file_segment("a.py", file_block("a.py", "1\n2\nnew\n4\n5\n6\n7\n8\n"))
    changed = diff_segment(file_lines(older), now)
    assert changed is not None
    source_map = map_sources([CHANGED_HEADING, changed])
    lines = Prompt((CHANGED_HEADING, changed)).markdown.split("\n")
    told = {
        line: (origin.kind.value, origin.first)
        for line, origin in zip(lines, source_map.origins(), strict=True)
    }
    assert told["+new"] == ("file", 3)
    assert told["-3"] == ("generated", 0)
    assert told[" 4"] == ("file", 4)


@st.composite
def _rendered(draw: st.DrawFn) -> File:
    """Return a file with a view and spans that anybody could have made up."""
    lines = st.lists(st.sampled_from(["a", "b", "```", "", "...", "### File x", "c\r"]), max_size=8)
    source, content = ("\n".join(draw(lines)) for _ in range(2))
    numbers = st.integers(min_value=0, max_value=10)
    spans = draw(st.lists(st.builds(Span, numbers, numbers, numbers, numbers), max_size=4))
    mode = draw(st.sampled_from(ViewMode))
    return shown_file("a\nb.py", content, source, error=draw(st.booleans()), mode=mode, spans=spans)


@given(files=st.lists(_rendered(), max_size=4), history=st.lists(st.text("ab:-`\n #x"), max_size=3))
def test_whatever_is_shown_each_line_has_one_origin(files: list[File], history: list[str]) -> None:
    """Spans that others made up, and texts like our own marks, leave one origin a line, verbatim or not (rule L-1)."""
    segments = (*map(rendered_segment, files), *discussion_segments(history))
    lines = Prompt(segments).markdown.split("\n") if segments else []
    origins = [*map_sources(segments).origins()]
    assert len(origins) == len(lines)
    sources = [file.source.text.split("\n") for file in files]
    for line, origin in zip(lines, origins, strict=True):
        if origin.is_verbatim:
            assert any(source[origin.first - 1 : origin.first] == [line] for source in sources)


def test_joined_runs_keep_what_is_found(tmp_path: Path) -> None:
    """A line that is shown twice is found where it first stands verbatim, not where something stands for it (rule L-2)."""
    outline = shown_file("a.py", "1-3 f", "x\ny\nz", spans=(Span(1, 1, 1, 3),))
    whole = shown_file("a.py", "x\ny\nz", "x\ny\nz")
    source_map = map_sources([rendered_segment(outline), rendered_segment(whole)])
    assert [source_map.find("a.py", line) for line in range(5)] == [None, 10, 11, 12, None]


LINES = [f"line {n}\n" for n in range(1, 13)]


def diff(older: str, newer: str) -> str | None:
    """Return the block of a diff between two contents of one file."""
    old, new = (file_block("a.py", text, language="python") for text in (older, newer))
    segment = diff_segment(file_lines(old), file_segment("a.py", new))
    return segment.text if segment.text != new else None


def test_a_diff_shown_whole() -> None:
    """Hunks with three lines around, under the file's heading."""
    newer = [*LINES[:1], "new\n", *LINES[2:]]
    assert diff("".join(LINES), "".join(newer)) == "\n".join(
        (
            "### File a.py (diff)",
            "",
            "```diff",
            "@@ -1,5 +1,5 @@",
            " line 1",
            "-line 2",
            "+new",
            " line 3",
            " line 4",
            " line 5",
            "```",
        )
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("".join(LINES), "".join(LINES)),
        ("".join(f"old {n}\n" for n in range(100)), "".join(f"new {n}\n" for n in range(100))),
        ("", "".join(f"{n}\n" for n in range(4000))),
    ],
)
def test_no_diff_where_it_would_not_help(older: str, newer: str) -> None:
    """None where nothing differs, where the diff would be longer than the file, and where too many lines differ."""
    assert diff(older, newer) is None


@given(
    *[st.lists(st.sampled_from(["a", "b", "c", "", "```", "@@ -1,1 +1,1 @@", "+x", "-y", "d\r"]))]
    * 2
)
def test_a_diff_leads_from_the_older_content_to_the_content_now(
    older: list[str], newer: list[str]
) -> None:
    """Whoever applies it by its line numbers gets the file as it is now."""
    text = diff("\n".join(older), "\n".join(newer))
    if text is not None:
        before, after = (
            file_block("a.py", "\n".join(lines)).split("\n")[3:-1] for lines in (older, newer)
        )
        assert patched(before, text.split("\n")[3:-1]) == after


def repetitive(number: int) -> tuple[str, str]:
    """Return two versions of a text of few different lines: their context could be found at many places."""
    draw = random.Random(number)
    lines = ["a", "b", "c", "}", "", "  return x"][: draw.randint(2, 6)]
    older = draw.choices(lines, k=draw.randint(1, 40))
    newer = list(older)
    for _ in range(draw.randint(1, 3)):
        at = draw.randint(0, len(newer))
        newer[at : at + draw.choice([0, 0, 1, 3])] = draw.choices(lines, k=draw.randint(0, 5))
    return "".join(f"{line}\n" for line in older), "".join(f"{line}\n" for line in newer)


@pytest.mark.parametrize(
    "program", [["patch", "-F0", "-s", "-p1"], ["git", "apply", "--whitespace=nowarn"]]
)
def test_programs_that_apply_diffs_take_it(program: list[str], tmp_path: Path) -> None:
    """Both want the same context on both sides of a change, but for a file's beginning and end; none may be guessed."""
    if shutil.which(program[0]) is None:
        pytest.skip(f"{program[0]} is not installed")
    expected, hunks = {}, []
    for number in range(120):
        older, newer = repetitive(number)
        if text := diff(older, newer):
            name = f"f{number}.txt"
            (tmp_path / name).write_text(older, encoding="utf-8")
            hunks += [f"--- a/{name}", f"+++ b/{name}", *text.split("\n")[3:-1]]
            expected[name] = newer
    done = subprocess.run(
        program, input="\n".join([*hunks, ""]), cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in expected} == expected
    assert len(expected) > 100


SOURCE = (
    "import one\n\ndef a():\n    return 1\n\ndef b():\n    return 1\n\ndef c():\n    return 3\n"
)


def now(source: str = SOURCE, *, is_message: bool = False) -> Segment:
    shown = ShownText(source, (), is_message=is_message)
    return Segment(Section.FILES, file_block("x.py", "def c():\n"), Stability.STABLE, "x.py", shown)


@pytest.mark.parametrize(
    ("content", "spans"),
    [
        ("import one\n...\ndef b():\n    return 1\n", [Span(1, 1, 1, 1), Span(3, 4, 6, 7)]),
        (SOURCE, [Span(1, 10, 1, 10)]),
        ("    # ...\ndef b():\n", [Span(2, 2, 6, 6)]),
        ("...\n", []),
        ("def b():\n...\ndef a():\n", None),  # not in the order of the file
        ("def b():\n    return 2\n", None),  # edited since
    ],
)
def test_spans(content: str, spans: list[Span] | None) -> None:
    """Runs between marks are found one behind the other, or nothing is said of any (rule L-1)."""
    shown = shown_in_older(file_block("x.py", content), now())
    assert (None if shown is None else list(shown.spans or ())) == spans


def test_a_file_of_one_line_without_end() -> None:
    """A block that repeats a line is given up soon, and a place that is found is one of its own (rule L-1)."""
    many = "x\n" * 50_000
    assert shown_in_older(file_block("x.py", "x\n" * 300 + "y\n"), now(many)) is None
    found = shown_in_older(file_block("x.py", "x\n...\nx\n"), now(many))
    assert found is not None
    assert list(found.spans or ()) == [Span(1, 1, 1, 1), Span(3, 3, 2, 2)]
