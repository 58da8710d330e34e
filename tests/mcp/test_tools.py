"""Tools, resources and progress, called by the protocol's own client."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st

from aggregate import count
from aggregate.mcp import Ledger, Workspace
from aggregate.project.index import open_index
from tests.mcp.serving import Ask, Asking, Endless, asking, connected, over, server_for, server_of
from tests.projects import project

RETRY = """\
def retry(call, attempts):
    for attempt in range(attempts):
        try:
            return call()
        except TimeoutError:
            continue
    raise TimeoutError
"""
CLIENT = """\
from retry import retry


class Client:
    def fetch(self, url):
        return retry(lambda: self.get(url), 3)

    def get(self, url):
        return url
"""


FILES = {
    "src/retry.py": RETRY,
    "src/client.py": CLIENT,
    "docs/guide.md": "# Guide\n\nHow to fetch.\n",
    ".env": "TOKEN=1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path, FILES)


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """A connection without a composed prompt, used for errors."""
    with asking(project(tmp_path_factory.mktemp("project"), FILES)) as ask:
        yield ask


def test_six_tools_take_at_most_1200_tokens(folder: Path) -> None:
    """Each request of an agent includes all names, descriptions and schemas."""
    with asking(folder) as ask:
        tools = (ask.do("list_tools")).tools
        assert [tool.name for tool in tools] == [
            "compose",
            "read",
            "outline",
            "find",
            "explain",
            "results",
        ]
        texts = [tool.model_dump_json(exclude_none=True, by_alias=True) for tool in tools]
        assert count("".join(texts)) <= 1200
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


def test_a_prompt_that_fits_is_the_answer(folder: Path) -> None:
    """One call returns the task's definitions, and explain has the reasons."""
    with asking(folder) as ask:
        prompt = ask("compose", task="fix the timeout in retry")
        assert "except TimeoutError:" in prompt.text
        handle = prompt.text.rsplit("\n[p-", 1)[1].split(":")[0]
        assert len(handle) == 8
        why = ask("explain", path="retry.py")
        assert why.text.startswith("src/retry.py\n")
        assert "evidence" in why.text
        assert ask("explain", path="nothing.py").is_error


def test_the_same_question_is_answered_by_a_line_until_something_changes(folder: Path) -> None:
    """A repeated prompt is only named; after an edit, or elsewhere, it is shown."""
    with asking(folder) as ask:
        shown = ask("compose", task="fix the timeout in retry").text
        again = ask("compose", task="fix the timeout in retry").text
        handle = again[1:].split(":")[0]
        assert again.count("\n") == 1
        assert f'the same prompt as in your call 1: read "{handle}" repeats it' in again
        assert RETRY in ask("read", path=handle).text
        source = RETRY.replace("attempts)", "attempts, wait)")
        (folder / "src/retry.py").write_text(source)
        assert source in ask("compose", task="fix the timeout in retry").text
        (folder / "src/retry.py").write_text(RETRY)
    with asking(folder) as ask:
        assert ask("compose", task="fix the timeout in retry").text == shown


@pytest.mark.parametrize(("budget", "focus"), [(150, ["nowhere.py", "b.py"]), (800, [])])
def test_the_whole_answer_stays_within_the_budget(
    tmp_path: Path, budget: int, focus: list[str]
) -> None:
    """The budget includes handle and doubts; the suggested smallest one suffices."""
    text = "".join(f"def timeout_{n}(retry):\n    return {n}\n\n\n" for n in range(200))
    project(tmp_path, {"a.py": text, "b.py": text[:2_000]})
    with asking(tmp_path) as ask:
        said = ask("compose", task="timeout", budget=budget, focus=focus).text
        assert budget / 2 < count(said) <= budget
        pinned = {"task": "timeout", "focus": ["b.py:1-400", *focus[:1]]}
        refused = ask("compose", budget=budget, **pinned)
        if not refused.is_error:
            assert count(refused.text) <= budget
            return
        least = int(refused.text.split("a budget of ")[1].split()[0])
        shown = ask("compose", budget=least, **pinned)
        assert not shown.is_error
        assert count(shown.text) <= least


@pytest.mark.parametrize(
    ("seeds", "nearest"),
    [
        ({"focus": ["bb.py"]}, 'did you mean "b.py"?'),
        ({"symbols": ["timeouts"]}, 'did you mean "timeout"?'),
    ],
)
def test_seeds_without_a_match_are_an_error(
    tmp_path: Path, seeds: dict[str, list[str]], nearest: str
) -> None:
    """Focus and symbols without a match are an error with the nearest names (rule T-2)."""
    project(tmp_path, {"a.py": "def timeout():\n    return 1\n", "b.py": "x = 1\n"})
    with asking(tmp_path) as ask:
        said = ask("compose", task="timeout", **seeds)
        assert said.is_error
        assert nearest in said.text


def test_a_name_makes_no_lines_of_its_own(tmp_path: Path) -> None:
    """Line breaks and escapes of names are escaped, in contents and errors."""
    name = "a\nb\x1b[31m.py"
    project(tmp_path, {name: "def timeout():\n    return 1\n"})
    with asking(tmp_path) as ask:
        ask("compose", task="timeout")
        for tool, arguments in (
            ("read", {}),
            ("read", {"again": True, "view": "skeleton"}),
            ("read", {"lines": "7"}),
            ("outline", {}),
            ("explain", {}),
        ):
            answer = ask(tool, path=name, **arguments).text
            assert "\x1b" not in answer
            assert "\nb" not in answer


def test_what_only_the_user_can_allow_is_no_hint_for_an_agent(tmp_path: Path) -> None:
    """Refused files are reported without command line options."""
    config = '[files]\npaths = ["**/*", "key.pem", "../x.py", "../y/*.py"]\n'
    files = {"a.py": "a = 1\n", ".env": "KEY=1\n", "key.pem": "x\n", "manual_slop.toml": config}
    project(tmp_path / "in", files)

    with asking(tmp_path / "in") as ask:
        said = ask("compose", task="a").text
        assert "[2 secret-looking files are left out (.env, key.pem)]" in said
        assert "ERROR: looks like a secret, so not read: key.pem" in said
        assert "ERROR: outside the project, so not read: ../x.py" in said
        assert "--allow" not in said
        assert "trust" not in said


def test_a_place_is_found_however_it_is_written(folder: Path) -> None:
    """Relative, roundabout and absolute paths find the same folder."""
    there = ("src", "./src", "/src/", "src/.", "docs/../src", "src\\", str(folder / "src"))
    whole = ("", ".", "./", str(folder))
    with asking(folder) as ask:
        for tool, arguments in (("find", {"query": "retry"}), ("outline", {})):
            for places in (there, whole):
                answers = {ask(tool, path=place, **arguments).text for place in places}
                assert len(answers) == 1
                assert "src/client.py" in answers.pop()


def test_a_longer_prompt_is_told_of_and_read_in_parts(tmp_path: Path) -> None:
    """A long prompt has a handle derived from its text, and capped parts that join to it."""
    text = "".join(
        f"def timeout_{number}(retry):\n    return {number}\n\n\n" for number in range(800)
    )
    project(tmp_path, {"a.py": text})
    server = server_of(tmp_path, cap=1_000)
    with connected(server) as ask:
        head = ask("compose", task="timeout", budget=5_000)
        assert count(head.text) <= 1_000
        handle = head.text.split('"')[1]
        said = ask("compose", task="timeout", budget=5_000).text
        assert said.startswith(f"[{handle}: ")
        assert said.endswith(f'the same prompt as in your call 1: read "{handle}" repeats it]\n')
        parts: list[str] = []
        line = 1
        while True:
            page = ask("read", path=handle, lines=f"{line}-").text
            assert count(page) <= 1_000
            body = page.split("\n", 1)[1]
            if "more lines: read" not in body:
                parts.append(body)
                break
            body, rest = body.rsplit("[", 1)
            parts.append(body)
            line = int(
                json.loads(rest[rest.index("{") : rest.index("}") + 1])["lines"].split("-")[0]
            )
        assert len(parts) > 3
        assert "".join(parts).rstrip("\n") == server.workspace.prompt(handle).markdown.rstrip("\n")


def test_what_was_shown_is_not_repeated_unless_asked(folder: Path) -> None:
    """Lines shown before are referenced, or repeated with ``again``."""
    with asking(folder) as ask:
        whole = ask("read", path="src/retry.py")
        assert whole.text == f"src/retry.py lines 1-7 of 7\n{RETRY}"
        again = ask("read", path="src/retry.py", lines="2-3")
        assert again.text == "src/retry.py lines 2-3 of 7: unchanged since your call 1 showed it\n"
        repeated = ask("read", path="src/retry.py", again=True)
        assert repeated.text == whole.text
        symbol = ask("read", path="src/client.py", symbol="Client.get")
        assert "return url" in symbol.text
        assert "fetch" not in symbol.text
        assert "unchanged" in ask("read", path="src/client.py", symbol="Client.get").text


def test_another_connection_knows_nothing(folder: Path) -> None:
    """Another connection starts without lines shown."""
    server = server_of(folder)
    for _ in range(2):
        with connected(server) as ask:
            assert "unchanged" not in ask("read", path="src/retry.py").text


def test_what_has_changed_is_shown_again(tmp_path: Path) -> None:
    """Changed content is shown, then counts as shown."""
    project(tmp_path, {"a.py": "a = 1\nb = 2\n"})
    with asking(tmp_path) as ask:
        ask("read", path="a.py")
        (tmp_path / "a.py").write_text("a = 1\nb = 3\n")
        assert ask("read", path="a.py").text == "a.py lines 1-2 of 2\na = 1\nb = 3\n"
        assert "unchanged since your call 2" in ask("read", path="a.py").text


def test_names_are_found_with_their_uses(folder: Path) -> None:
    """Definitions and uses have lines; a path narrows them; other text is searched for."""
    with asking(folder) as ask:
        assert ask("find", query="retry").text == (
            "1 definition of retry\n"
            "src/retry.py:1-7 function retry: def retry(call, attempts):\n"
            "2 uses of retry\n"
            "src/client.py:1: from retry import retry\n"
            "src/client.py:6 in Client.fetch: return retry(lambda: self.get(url), 3)\n"
        )
        assert "1 definition of Client.get\n" in ask("find", query="Client.get").text
        assert "0 uses" in ask("find", query="retry", path="src/retry.py").text
        found = ask("find", query="how to FETCH")
        assert found.text == "1 line with 'how to FETCH'\ndocs/guide.md:3: How to fetch.\n"
        assert ask("find", query="no such thing").text == "0 lines with 'no such thing'\n"


def test_folders_are_outlined_as_far_as_an_answer_reaches(folder: Path, tmp_path: Path) -> None:
    """A folder shows definitions if they fit, else files, else folders."""
    with asking(folder) as ask:
        outline = ask("outline", path="src").text
        assert "src/client.py  about 39 tokens\n  4-9 class Client\n" in outline
        assert "def retry(call, attempts)" in ask("outline", path="src/retry.py").text
        assert ask("outline", path="nowhere").is_error
    spaces = {
        "a.cs": "namespace N\n{\n    class C\n    {\n        int F() { return 1; }\n    }\n}\n",
        "b.rb": "module M\n  class D\n    def f\n      1\n    end\n  end\nend\n",
    }
    with asking(
        project(tmp_path / "spaces", spaces)
    ) as ask:  # what holds all of a file says nothing
        assert "\n  3-6 class N.C\n" in ask("outline").text
        assert "\n  2-6 class M.D\n" in ask("outline").text
        assert "namespace" not in ask("outline").text
    many = {f"pkg{number % 3}/module_{number}.py": "x = 1\n" for number in range(400)}
    other = project(tmp_path / "many", many)
    with asking(other, cap=1_000) as ask:
        assert ask("outline").text == (
            "the project: 400 files, about 400 tokens\n"
            "pkg0/  134 files, about 134 tokens\n"
            "pkg1/  133 files, about 133 tokens\n"
            "pkg2/  133 files, about 133 tokens\n"
        )


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("read", {"path": "../outside.py"}, "../outside.py: outside the project, so not read"),
        ("read", {"path": "/etc/hosts"}, "/etc/hosts: outside the project, so not read"),
        ("read", {"path": ".env"}, ".env: looks like a secret, so not read"),
        ("read", {"path": "gone.py"}, "file not found: gone.py"),
        ("read", {"path": "src/retry.py", "lines": "9-12"}, "src/retry.py has lines 1 to 7, not 9-12"),
        ("read", {"path": "src/retry.py", "symbol": "none"}, "src/retry.py: symbol not found: none"),
        ("read", {"path": "p-00000000"}, "unknown or dropped prompt 'p-00000000': compose it again"),
        (
            "find",
            {"query": "retry", "path": "nowhere"},
            "find: no file of the project is at or below nowhere: a path is relative to the project's root",
        ),
        (
            "compose",
            {"task": "retry", "focus": ["src/retry.py:1-7"], "budget": 45},
            "compose: the required parts have 101 tokens, more than the budget of 5; the largest: src/retry.py (47), "
            "project (46), the task (5); use a budget of 341 or focus on less",
        ),
        ("read", {"path": "src"}, "src is a folder: outline lists its files"),
        ("find", {"query": " "}, "find: pass a query, perhaps with a path, or a task alone"),
        ("read", {}, "read: path: Field required"),
        ("read", {"path": "a", "nope": 1}, "read: nope: Extra inputs are not permitted"),
        ("read", {"path": "src/*.py"}, "src/*.py matches 2 files: pass one"),
        ("compose", {"task": " "}, "compose: the task is empty: describe your next step"),
        ("explain", {}, "explain: compose a prompt first, or pass its handle"),
        ("delete", {}, "unknown tool 'delete': use one of compose, read, outline, find, explain, results"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(
    unasked: Ask, tool: str, arguments: dict[str, object], sentence: str
) -> None:
    """Invalid calls are tool errors with a reason and nothing of the machine."""
    said = unasked(tool, **arguments)
    assert said.is_error
    assert said.text == sentence


def test_a_mistake_is_no_longer_than_an_answer(folder: Path) -> None:
    """Long arguments are quoted in part, and too many names are refused."""
    with asking(folder) as agent:
        said = agent("read", path="src/retry.py", symbol="x" * 100_000)
        assert said.is_error
        assert len(said.text) == 1_001
        assert said.text.startswith("src/retry.py: symbol not found: xxx")
        for argument in ("focus", "symbols"):
            said = agent("compose", **{"task": "x", argument: ["*"] * 201})
            assert said.is_error
            assert f"{argument}: List should have at most 200 items" in said.text


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """A link out of the project is refused."""
    (tmp_path / "private.txt").write_text("private")
    folder = project(tmp_path / "project", {"a.py": "x = 1\n"})
    (folder / "link.txt").symlink_to(tmp_path / "private.txt")
    with asking(folder) as ask:
        said = ask("read", path="link.txt")
        assert said.is_error
        assert "private" not in said.text.replace("private.txt", "")
        assert "link.txt" not in ask("outline").text


def test_results_are_folded_without_running_code() -> None:
    """Values are merged by strategy, failures listed, functions refused."""
    with asking(Path(__file__).parent) as ask:
        outputs = [{"label": "a", "value": {"x": 1}}, {"label": "b", "error": "no answer"}]
        folded = ask("results", outputs=outputs, strategy="json")
        assert folded.text == '{\n  "a": {\n    "x": 1\n  }\n}\nb failed: no answer\n'
        assert ask("results", outputs=outputs, strategy="custom").is_error
        assert ask("results", outputs=[]).is_error


def test_a_line_longer_than_an_answer_is_cut(tmp_path: Path) -> None:
    """The cap holds, and cuts are marked."""
    project(tmp_path, {"long.txt": "word " * 5_000 + "\nshort\n"})
    with asking(tmp_path, cap=1_000) as ask:
        said = ask("read", path="long.txt")
        assert count(said.text) <= 1_000
        assert "more characters of line 1 are omitted" in said.text
        assert "short" in ask("read", path="long.txt", lines="2").text


PATIENCE = 10
"""Seconds until work that goes on counts as never ended: machines are slow at times."""
MANY = {f"m{number}.py": f"def f{number}():\n    return {number}\n" for number in range(30)}


def _asking(folder: Path, questions: Callable[[Asking], Awaitable[None]]) -> None:
    over(server_of(project(folder, MANY)), questions)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("compose", {"task": "fix f7"}), ("find", {"query": "f7"}), ("outline", {})],
)
def test_long_work_tells_how_far_it_is(
    tmp_path: Path, tool: str, arguments: dict[str, Any]
) -> None:
    """Requested progress grows to the total number of files."""
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message is None
        told.append((progress, total))

    async def ask(agent: Asking) -> None:
        await agent.client.call_tool(tool, arguments, progress_callback=note)

    _asking(tmp_path, ask)
    assert told[0] == (0, 30)
    assert told[-1] == (30, 30)
    assert told == sorted(told)


def test_who_has_gone_is_not_worked_for(tmp_path: Path) -> None:
    """A cancelled call ends at its next step, and the next one is answered."""
    endless = Endless(project(tmp_path, MANY))

    async def ask(agent: Asking) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: agent("compose", task="fix f7"))
            await anyio.to_thread.run_sync(endless.begun.wait)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(lambda: endless.ended.wait(PATIENCE))
        assert "return 7" in (await agent("read", path="m7.py")).text

    over(server_for(endless), ask)


@given(
    st.lists(st.frozensets(st.integers(1, 12), min_size=1), max_size=6),
    st.frozensets(st.integers(1, 12), min_size=1),
)
def test_lines_count_as_shown_only_if_all_were(
    shown: list[frozenset[int]], wanted: frozenset[int]
) -> None:
    """Lines are omitted only if all were shown with this content."""
    ledger = Ledger()
    for call, lines in enumerate(shown, start=1):
        ledger.record("a.py", "same", lines, call=call)
    everything = frozenset().union(*shown)
    assert bool(ledger.call_of("a.py", "same", wanted)) == (wanted <= everything)
    assert not ledger.call_of("a.py", "other", wanted)
    assert not ledger.call_of("b.py", "same", wanted)


def test_a_change_forgets_what_was_shown() -> None:
    """Lines of a changed file do not count as shown."""
    ledger = Ledger()
    ledger.record("a.py", "x\ny\n", [1, 2], call=1)
    ledger.record("a.py", "new\ny\n", [1], call=2)
    assert ledger.call_of("a.py", "new\ny\n", [1]) == 2
    assert not ledger.call_of("a.py", "new\ny\n", [2])


def test_a_task_finds_a_sheet_to_pick_from(tmp_path: Path) -> None:
    """``find`` returns the likeliest files with signatures within 2,500 tokens, deterministically (rule T-10)."""
    files = {
        f"src/part{n}.py": f"def timeout_{n}(retry, attempts):\n    return {n}\n" for n in range(40)
    }
    project(tmp_path, files | {"src/big.py": "".join(files.values())})
    with asking(tmp_path) as ask:
        said = ask("find", task="fix the timeout").text
        assert said.startswith("1. src/")
        assert "\n20. src/" in said
        assert "\n41. " not in said
        assert "   def timeout_3(retry, attempts):\n" in said
        assert "paths as focus, names as symbols]\n" in said
        assert 300 < count(said) <= 2_500
        assert ask("find", task="fix the timeout").text == said
        assert ask("find", task="x", query="y").is_error
        assert ask("find", task="x", path="src").is_error
    with asking(tmp_path, cap=500) as ask:
        assert count(ask("find", task="fix the timeout").text) <= 500


def test_picks_count_for_more_and_are_not_pinned(tmp_path: Path) -> None:
    """A whole file as focus and symbols in it are preferences: without room they are no error (T-10)."""
    text = "".join(f"def part_{n}(value):\n    return {n}\n\n\n" for n in range(300))
    project(tmp_path, {"a.py": text.replace("part", "piece"), "b.py": text})
    with asking(tmp_path) as ask:
        assert "def part_271(" not in ask("compose", task="the value", budget=800).text
        asked = {"task": "the value", "budget": 800}
        picked = ask("compose", **asked, focus=["b.py"], symbols=["part_271"]).text
        assert "def part_271(value):\n    return 271\n" in picked
        assert count(picked) <= 800
        handle = picked.rpartition("\n[")[2].partition(":")[0]
        assert "picked" in ask("explain", handle=handle, path="b.py").text
        assert ask("compose", **asked, focus=["b.py:1-1200"]).is_error


def test_a_session_tells_what_its_prompts_had(folder: Path) -> None:
    """Prompts are counted once, with their whole files; none gives no report."""
    workspace = Workspace(folder / "manual_slop.toml", index=open_index(use=False))
    assert workspace.summary == ""
    with connected(server_for(workspace)) as ask:
        text = ask("compose", task="fix the timeout in retry").text
        ask("compose", task="fix the timeout in retry")
    prompt = text.rpartition("\n\n[")[0]
    said = f"composed prompts: 1 with {count(prompt):,} tokens; their files: 3 with about"
    assert workspace.summary.startswith(said)
