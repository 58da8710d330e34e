"""Prompts within a budget, from files on the disk to the text: never over, monotone, accounted for."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from aggregate import (
    Budget,
    BudgetError,
    Composition,
    Place,
    Task,
    compose_prompt,
    count,
    open_project,
    request_for,
)
from aggregate.base import FileOrder
from aggregate.prompt.asking import Request
from tests.prompt import composing
from tests.prompt.composing import kept_nothing, result

FUNCTION = '''def {name}({argument}):
    """Return what {name} makes of {argument}."""
    result = {argument} + {number}
    for step in range({number}):
        result = result * step - {number}
    return result


'''
SHOWN = [
    "none", "left out", "name", "summary", "outline", "skeleton", "focused", "masked", "custom",
    "full",
]  # fmt: skip
LEVELS = ["left out", "name", "outline", "skeleton", "focused", "full"]


def module(*names: str, number: int = 3) -> str:
    return "import os\n\n\n" + "".join(
        FUNCTION.format(name=name, argument="value", number=number) for name in names
    )


def project(
    folder: Path, files: Mapping[str, str | bytes], /, **tables: Mapping[str, object]
) -> Request:
    """Write files below ``folder`` and return the request for all of them, or as ``tables`` say."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    named = {"base_dir": str(folder), "paths": ["**/*"], **tables.pop("files", {})}
    return request_for(open_project({"files": named, **tables}))


def composed(request: Request, tokens: int, task: Task | None = None) -> Composition:
    return composing.composed(replace(request, task=task, budget=Budget(tokens)))


FILES = {
    "net/retry.py": module("retry_loop", "backoff", "give_up"),
    "net/session.py": module("open_session", "close_session", number=7),
    "app/main.py": module(*(f"command_{number}" for number in range(40))),
    "docs/guide.md": "# Guide\n\nWelcome.\n\n## Retries\n\nHow often to try.\n\n## Sessions\n\nOpen one.\n",
    "data.json": '{"a": 1, "b": [1, 2, 3]}\n',
    "notes.xyz": "".join(f"line {number} of notes\n" for number in range(80)),
}


def test_a_copy_is_shown_behind_all_others(tmp_path: Path) -> None:
    """Of files with the same content the likeliest is shown, the others as soon as all fits (rules B-2, B-7)."""
    files = {**FILES, "built/net/retry.py": FILES["net/retry.py"], "words.txt": "word\n" * 5_000}
    request = project(tmp_path, files)
    task = Task("fix backoff in the retry loop")
    small, all_of_it = composed(request, 4_000, task), composed(request, 30_000, task)
    copies = ["built/net/retry.py", "net/retry.py"]
    first, other = sorted(copies, key=lambda path: path not in [file.path for file in small.files])
    text = small.prompt.markdown
    assert text.count("def backoff") == 1
    folder, _, name = other.rpartition("/")
    assert re.search(rf"- {folder}/: {name} \d+ \(the same as {first}\)", text)
    assert all_of_it.prompt.markdown.count("def backoff") == 2
    assert "### Not shown" not in all_of_it.prompt.markdown


def test_the_definition_that_the_task_names_is_shown_in_full(tmp_path: Path) -> None:
    """What the task is about enters first, the rest by structure and by name (rules B-2, B-7)."""
    request = project(tmp_path, FILES)
    composition = composed(request, 700, Task("fix `backoff` in the retry loop"))
    by_path = {choice.path: choice for choice in composition.choices}
    assert "backoff" in by_path["net/retry.py"].definitions
    assert by_path["net/retry.py"].rank == 1
    assert FUNCTION.format(name="backoff", argument="value", number=3).strip() in (
        composition.prompt.markdown
    )
    assert "### Not shown" in composition.prompt.markdown
    assert count(composition.prompt.written) <= 700


@given(
    names=st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=8),
    texts=st.lists(
        st.sampled_from(
            [
                module("one", "two"),
                "# Title\n\ntext\n\n## Part\n\nmore\n", "", "\n\n\n",
                "def a():\n    return 1\n" + "\n" * 900 + "def b():\n    return 2\n" + " \n" * 90,
                "x" * 3000 + "\n",
                "a\r\nb\r\n", "no end", "```\nfence\n```\n### File `x`\n",
                "class A:\n    def f(self):\n        return 1\n" * 20,
                "func F() {\n\tx := 1\n\treturn x\n}\n" * 9,
            ]
        ),
        min_size=1,
        max_size=8,
    ),
    task=st.sampled_from(["", "one", "fix the fence in Title", "漢字", "A.f returns 1"]),
    budgets=st.lists(st.integers(1, 3_000), min_size=2, max_size=4, unique=True),
)  # fmt: skip
@settings(max_examples=15)
def test_more_tokens_never_show_less_and_all_is_accounted_for(
    names: list[str], texts: list[str], task: str, budgets: list[int]
) -> None:
    """Levels and definitions grow with the budget, no count is over, and rows add up (rules B-1, B-6, A-2)."""
    suffixes = [".py", ".md", ".go", ".txt", ".unknown"]
    files = {
        f"{name}{place}{suffixes[(place + len(text)) % 5]}": text
        for place, (name, text) in enumerate(zip(names, texts, strict=False))
    }
    with TemporaryDirectory() as folder:
        request = replace(project(Path(folder), files), finish=None)  # a frame takes more than some
        before: dict[str, tuple[int, frozenset[str]]] = {}
        for tokens in sorted(budgets):
            composition = composed(request, tokens, Task(task))
            assert count(composition.prompt.written) <= tokens
            assert sum(choice.tokens for choice in composition.choices) <= tokens
            _check_origins(composition)
            for choice in composition.choices:
                level, definitions = before.get(choice.path, (0, frozenset()))
                assert LEVELS.index(choice.level) >= level
                assert definitions <= set(choice.definitions)
                before[choice.path] = LEVELS.index(choice.level), frozenset(choice.definitions)


def _check_origins(composition: Composition) -> None:
    """Make sure that lines that are told to be as in a file are (rule L-1)."""
    shown = composition.prompt.markdown.split("\n")
    for file in composition.files:
        lines = file.source.text.split("\n")
        for line in range(1, len(lines) + 1):
            place = composition.find(file.path, line)
            if place is None:
                continue
            origin = composition.origin(place)
            assert origin is not None
            if origin.is_verbatim:
                assert shown[place - 1] == lines[line - 1]


MIXED: dict[str, str | bytes] = {
    "lib/__init__.py": "",
    "lib/core.py": module("one", "two"),
    "lib/parts.py": module("three"),
    "logo.png": b"\x89PNG\0\0",
    "package-lock.json": '{"lockfileVersion": 3}\n',
    "blank.py": "\n\n\n",
}
BY_ENTRIES: list[object] = [
    {"path": "app/*.py", "view_mode": "skeleton"},
    {"path": "data.json", "view_mode": "none"},
    {"path": "notes.xyz", "view_mode": "custom", "custom_slices": [{"start_line": 3, "end_line": 9}]},
    {"path": "net/*", "view_mode": "outline"},
    "gone.py", "docs/*",
]  # fmt: skip


def line_of(request: Request) -> str:
    marks = "A line `...`, or a comment such as `# ...12` of 12 lines, stands for lines that are left out."
    return f"Parts of the project {request.title}. {marks}"


def named_files(markdown: str) -> set[str]:
    """Return the paths in the list of the most relevant files that are not shown."""
    rest = markdown.partition("The most relevant files, with their tokens:\n\n")[2]
    lines = re.findall(r"^- (?:\./|([^:]*/)): (.+)$", rest.partition("\n\n")[0], re.MULTILINE)
    return {
        folder + name
        for folder, names in lines
        for name in re.findall(r"(\S+) [\d,]+(?:, |$| )", names)
    }


@pytest.mark.parametrize("task", [None, Task("close the session")])
@pytest.mark.parametrize(
    ("texts", "tables"),
    [
        (FILES, {}),
        ({**FILES, **MIXED}, {"files": {"paths": ["**"]}}),
        ({**FILES, **MIXED}, {"files": {"paths": ["**"]}, "project": {"summary_only": True}}),
        (FILES, {"files": {"paths": BY_ENTRIES}}),
        (FILES, {"discussion": {"history": [f"User: {n} {'word ' * 40}" for n in range(9)]}}),
        ({f"d{n % 7}/f{n}.py": module(f"close_{n}") if n % 5 else "" for n in range(16)}, {}),
    ],
    ids=["code", "empty", "summaries", "views", "discussion", "many"],
)
def test_a_budget_of_the_whole_prompt_shows_it(
    texts: dict[str, str | bytes],
    tables: dict[str, dict[str, object]],
    task: Task | None,
    tmp_path: Path,
) -> None:
    """From its tokens on it is the prompt without a budget, framed for a task; below, nearly full (B-6, B-12, T-7)."""
    request = project(tmp_path, texts, **tables)
    plain = compose_prompt(request, index=kept_nothing()).prompt.markdown
    if task:
        top = "" if request.history else "- Task, in full at the end: close the session\n\n"
        plain = f"{line_of(request)}\n\n{top}{plain}\n\n## Task\n\nclose the session"
    plain += "\n"
    whole = count(plain)
    before: dict[str, int] = {}
    for tokens in (whole // 2, whole - 1, whole, whole + 4):
        budget = Budget(tokens, order=FileOrder.CONFIGURED)
        composition = composing.composed(replace(request, budget=budget, task=task))
        markdown = composition.prompt.written
        assert count(markdown) <= tokens
        assert (markdown == plain) == (tokens >= whole)
        named = {choice.path for choice in composition.choices if choice.level == "name"}
        assert named == named_files(markdown)
        shown = {choice.path: SHOWN.index(choice.level) for choice in composition.choices}
        assert all(shown[path] >= level for path, level in before.items())
        before = shown


def test_pins_that_do_not_fit_are_a_mistake_with_the_exact_remedy(tmp_path: Path) -> None:
    """With the budget that the message names the same run succeeds, with one token less it does not (rule B-4)."""
    request = project(tmp_path, FILES)
    task = Task("x", focus=(Place("app/main.py"), Place("data.json")))
    with pytest.raises(BudgetError, match=r"app/main\.py") as caught:
        composed(request, 100, task)
    smallest = caught.value.smallest
    composition = composed(request, smallest, task)
    assert count(composition.prompt.written) == smallest
    assert [choice.path for choice in composition.choices if choice.pinned] == [
        "app/main.py",
        "data.json",
    ]
    with pytest.raises(BudgetError):
        composed(request, smallest - 1, task)


def test_a_pinned_place_shows_the_definitions_around_it(tmp_path: Path) -> None:
    """Of ``PATH:LINE`` the definition is pinned, the rest of the file is ranked (rules T-2, B-4)."""
    request = project(tmp_path, FILES)
    composition = composed(request, 260, Task("", focus=(Place("app/main.py", 7, 7),)))
    (choice,) = [choice for choice in composition.choices if choice.pinned]
    assert choice.path == "app/main.py"
    assert choice.level == "focused"
    assert "command_0" in choice.definitions


@pytest.mark.parametrize("tokens", [200, 400, 1200, 3000])
def test_no_result_disappears(tmp_path: Path, tokens: int) -> None:
    """Every result is named, the rows of the audit list what is cut, and nothing is over (rules B-1, B-5, A-4, F-11)."""
    results = tuple(result(f"$part_{number}", f"finding {number} " * 40) for number in range(12))
    request = replace(project(tmp_path, FILES), results=results)
    composition = composed(request, tokens, Task("close the session"))
    markdown = composition.prompt.markdown
    assert count(markdown) <= tokens
    cut = {cut.what for cut in composition.cut if cut.section == "results"}
    for number, each in enumerate(results):
        assert f"$part_{number}" in markdown
        assert (str(each.value) in markdown) is (each.variable_name not in cut)


def test_results_get_what_nothing_else_uses(tmp_path: Path) -> None:
    """The share is what results get at least: beside few files they are shown whole (rule B-5)."""
    results = tuple(result(f"$part_{number}", f"finding {number} " * 400) for number in range(4))
    request = replace(project(tmp_path, FILES), results=results)
    composition = composed(request, 20_000, Task("close the session"))
    assert composition.cut == ()
    assert all(str(each.value) in composition.prompt.markdown for each in results)


def ordered(tmp_path: Path, order: str) -> list[int | None]:
    """Return the ranks of the files as a prompt shows them."""
    request = project(tmp_path, FILES, budget={"tokens": 3000, "order": order})
    task = Task("close the session and open the session")
    composition = composing.composed(replace(request, task=task))
    ranks = {choice.path: choice.rank for choice in composition.choices}
    return [ranks[file.path] for file in composition.files]


def test_a_finished_prompt_shows_the_likeliest_file_first(tmp_path: Path) -> None:
    """Without a discussion scores decide on the order, unless the configuration says otherwise (rule B-8)."""
    by_rank = ordered(tmp_path, "auto")
    assert by_rank == ordered(tmp_path, "relevance")
    assert by_rank[0] == 1
    assert by_rank != ordered(tmp_path, "configured")
    edges = ordered(tmp_path, "edges")
    assert (edges[-1], edges[0]) == (1, 2)


def test_a_discussion_keeps_the_configured_order(tmp_path: Path) -> None:
    """What a provider's cache may read again begins with the same files (rule B-8)."""
    request = project(tmp_path, FILES)
    task = Task("close the session and open the session")
    discussed = composed(replace(request, history=("User: hello",)), 3000, task)
    sent = composed(replace(request, finish=None), 3000, task)
    for composition in (discussed, sent):
        paths = [file.path for file in composition.files]
        assert paths == sorted(paths)


def test_tests_and_documents_follow_their_source(tmp_path: Path) -> None:
    """A companion stands behind the file that it belongs to, whatever lies between by score (rule B-8)."""
    files = {
        "a_test.py": "from session import close\n\n\ndef test_close():\n    assert close()\n",
        "other.py": module("close_all", "open_session"),
        "session.py": module("close", "reset"),
        "tests/test_session.py": "from session import close\n\n\ndef test_it():\n    close()\n",
    }
    composition = composed(project(tmp_path, files), 3000, Task("close the session in session.py"))
    paths = [file.path for file in composition.files]
    assert paths[:2] == ["session.py", "tests/test_session.py"]


def test_without_a_task_structure_alone_decides(tmp_path: Path) -> None:
    """A budget alone shows what others refer to, and no scores are told (rule T-3)."""
    files = {
        "a.py": "from core import central\n\n\ndef a():\n    return central()\n",
        "b.py": "from core import central\n\n\ndef b():\n    return central()\n",
        "core.py": module("central"),
        "lonely.py": module("nobody_calls_me", "nor_me"),
    }
    composition = composed(project(tmp_path, files), 180)
    by_path = {choice.path: choice for choice in composition.choices}
    assert "central" in composition.prompt.markdown
    assert all(choice.score is None and choice.rank is None for choice in by_path.values())
    assert by_path["core.py"].tokens >= by_path["lonely.py"].tokens


def test_what_the_files_leave_goes_to_turns_and_results_once(tmp_path: Path) -> None:
    """What the files leave is given away once, so none of them loses lines to it (rules B-5, B-6)."""
    request = project(
        tmp_path,
        {**FILES, "keys.json": json.dumps({f"key{number}": "a value" for number in range(60)})},
        discussion={"history": [f"question {number} " + "word " * 60 for number in range(12)]},
    )
    values = ["finding " * number for number in (1_000, 1_400)]
    request = replace(request, results=tuple(map(result, "ab", values)))
    before: dict[str, int] = {}
    for tokens in range(4_000, 8_001, 1_000):
        composition = composed(request, tokens, Task("fix the retry loop"))
        assert count(composition.prompt.written) <= tokens
        shown = {choice.path: LEVELS.index(choice.level) for choice in composition.choices}
        assert all(shown[path] >= level for path, level in before.items())
        before = shown
    assert set(before.values()) == {LEVELS.index("full")}
    assert not composition.cut
