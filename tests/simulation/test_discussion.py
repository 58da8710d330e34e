"""The simulations: what they list, what they replay, what they draw."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulation.__main__ import simulations
from simulation.chart import line_chart
from simulation.discussion import (
    Discussion,
    answers,
    chart,
    fixed_pauses,
    human_pauses,
    simulate,
    table,
)
from simulation.replay import Commit, make_replay
from simulation.sim_base import run_sim
from simulation.wire_cache import WireCache, compare

from aggregate.base.tokens import count
from aggregate.base.values import Usage
from tests.projects import project

ROOT = Path(__file__).parents[2]
COMMITS = 3
TURNS = 8


def git(folder: Path, *arguments: str) -> None:
    """Run git with a fixed identity."""
    who = {
        f"GIT_{role}_{part}": "x@y"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        env={**os.environ, **who},
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a repository of five files, whose last commits change one file each."""
    body = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(150))
    folder = project(tmp_path / "clone", {f"{name}.py": f"# {name}\n{body}" for name in "abcde"})
    git(folder, "init", "-q")
    for number, name in enumerate(("", "b", "b", "d")):
        if name:
            (folder / f"{name}.py").write_text(f"# {name} {number}\n{body}", encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", f"Change {name or 'nothing'}")
    return folder


def test_a_discussion_is_replayed_and_charged(clone: Path, tmp_path: Path) -> None:
    """Every provider's account holds every token, and our order costs less than the naive one and than no cache."""
    replay = make_replay(
        clone, tmp_path / "tree", commits=COMMITS, most_bytes=100_000, hardest=False
    )
    assert replay.paths == ("a.py", "b.py", "c.py", "d.py", "e.py")
    assert [commit.subject for commit in replay.commits] == ["Change b", "Change b", "Change d"]
    discussion = Discussion(TURNS, every=3, words=70, pauses=fixed_pauses(TURNS, 60.0))
    books = simulate(replay, tmp_path, discussion)
    assert {one.provider for one in books} == {
        "anthropic",
        "openai",
        "gemini",
        "deepseek",
        "minimax",
    }
    for one in books:
        afresh = sum(usage.input for usage in one.afresh)
        assert one.naive.total.input == afresh <= one.ours.total.input < 1.1 * afresh
        ours, naive = (account.input_price(account.usages) for account in (one.ours, one.naive))
        assert ours < 0.7 * naive
        assert ours < 0.7 * afresh
    lines = list(table(books))
    assert len(lines) == 1 + 3 * len(books)
    assert chart(books[0]).count("<polyline") == 3
    assert (replay.folder / "d.py").read_text(encoding="utf-8").startswith("# d 3\n")
    assert (clone / "d.py").read_text(encoding="utf-8").startswith("# d 3\n")


def test_a_slow_discussion_costs_little_more(clone: Path, tmp_path: Path) -> None:
    """Pauses of ten minutes end the entries that live for five, and not those that live for an hour."""
    replay = make_replay(
        clone, tmp_path / "tree", commits=COMMITS, most_bytes=100_000, hardest=False
    )
    discussion = Discussion(TURNS, every=3, words=70, pauses=fixed_pauses(TURNS, 600.0))
    books = simulate(replay, tmp_path, discussion)
    shares = {one.provider: one.ours.total.cache_share for one in books}
    assert shares["anthropic"] > 0.8
    assert shares["minimax"] == 0.0


def test_what_is_planned_is_what_arrives(clone: Path, tmp_path: Path) -> None:
    """A cache that sees the bytes of requests alone accounts what each turn expects, after long pauses too (rule C-5)."""
    replay = make_replay(
        clone, tmp_path / "tree", commits=COMMITS, most_bytes=100_000, hardest=False
    )
    pauses = (60.0, 400.0, 4000.0)
    turns = list(compare(replay, tmp_path, Discussion(4, every=2, words=70, pauses=pauses)))
    assert len(turns) == 4
    assert [turn.expected for turn in turns] == [turn.accounted for turn in turns]
    assert turns[1].accounted.cache_read > 0
    assert turns[3].accounted.cache_read == 0  # after more than an hour


def block(text: str, ttl: str = "") -> dict[str, object]:
    """Return a block of a request, with a breakpoint if it has a lifetime."""
    control: dict[str, object] = {"cache_control": {"type": "ephemeral", "ttl": ttl}} if ttl else {}
    return {"type": "text", "text": text, **control}


def body(*blocks: dict[str, object]) -> dict[str, object]:
    """Return the body of a request with one message."""
    return {"messages": [{"role": "user", "content": list(blocks)}]}


def test_a_cache_by_bytes() -> None:
    """It reads the longest entry that lives, knows both lifetimes, and refuses what the provider would refuse."""
    files, said, more = "word " * 3000, "so " * 2000, "and " * 1500
    sizes = [count(text) for text in (files, said, more)]
    cache = WireCache()
    first = cache.account(body(block(files, "1h"), block(said, "5m")))
    assert first == Usage(cache_write=sum(sizes[:2]), cache_write_long=sizes[0])
    cache.now = 200.0
    second = cache.account(body(block(files, "1h"), block(said, "5m"), block(more, "5m")))
    assert second == Usage(0, sizes[2], sum(sizes[:2]))
    cache.now = 600.0
    third = cache.account(body(block(files, "1h"), block(said, "5m"), block(more)))
    assert third == Usage(sizes[2], sizes[1], sizes[0])
    cache.now = 5000.0
    assert cache.account(body(block(files, "1h"))).cache_read == 0
    other = cache.account(body(block(files + "!", "1h")))
    assert other.cache_read == 0
    with pytest.raises(ValueError, match="behind a shorter one"):
        cache.account(body(block(files, "5m"), block(said, "1h")))
    with pytest.raises(ValueError, match="four"):
        cache.account(body(*(block(files, "5m") for _ in range(5))))


def test_answers_have_the_words_that_are_asked_for() -> None:
    """However short a commit is: then others go on, with their line breaks."""
    commits = [Commit("1", "One", "a b\nc"), Commit("2", "Two", "d e f g\n")]
    assert list(answers(commits, 5)) == ["a b\nc\nd e", "d e f g\n\na"]


def test_people_pause_as_is_known_of_them() -> None:
    """Two and a half minutes in the median, a quarter of all pauses longer than five; the same ones each time."""
    pauses = human_pauses(4001)
    assert pauses == human_pauses(4001)
    assert 140 < sorted(pauses)[2000] < 160
    assert 0.23 < sum(pause > 300 for pause in pauses) / 4000 < 0.27


def test_the_strategy_of_a_simulation_is_fixed(tmp_path: Path) -> None:
    """``auto``, whatever the configuration says (rule M-30); the turns follow each other in the discussion's file."""
    settings = '[project]\naggregation_strategy = "summarize"\n[files]\npaths = ["a.py"]\n'
    folder = project(tmp_path, {"a.py": "def f():\n    return 1\n", "manual_slop.toml": settings})
    turns = list(
        run_sim(folder / "manual_slop.toml", ["One?", "Two?"], answers=["First.", "Second."])
    )
    assert [turn.delivered.reply.text for turn in turns] == ["First.", "Second."]
    assert turns[1].prepared.prompt.markdown.startswith("## Files\n")
    assert turns[1].prepared.prompt.markdown.endswith(
        "AI: First.\n\n---\n\n### Discussion Excerpt 3\n\nUser: Two?"
    )


def test_simulations_are_listed_and_run_by_name() -> None:
    """Each module with a ``main``; an unknown name is answered with those that there are."""
    assert {"anchors", "discussion", "pipeline", "sending", "subagents"} <= set(simulations())
    assert not {"chart", "git_history", "replay", "sim_base", "__main__"} & set(simulations())
    done = subprocess.run(
        [sys.executable, "-m", "simulation", "nothing"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(
        "there is no simulation 'nothing': take one of agent_tokens, anchor_ablation, "
    )


def test_a_chart_shown_whole() -> None:
    """Two lines over two steps; names that end at the same height do not cover each other."""
    text = line_chart(
        "A <title>", {"one": [0.0, 3.0], "two": [1.0, 3.0]}, across="turn", up="tokens"
    )
    assert text.startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 420" font-family="sans-serif">\n'
    )
    assert "A &lt;title&gt;" in text
    assert '<polyline points="64.0,372.0 580.0,177.6"' in text
    places = [line.split('y="')[1].split('"')[0] for line in text.splitlines() if ": 3.00<" in line]
    assert sorted(map(float, places)) == [165.6, 181.6]
