"""The simulations: what they list and what they replay."""

import subprocess
import sys
from pathlib import Path

import pytest
from simulation.__main__ import simulations
from simulation.discussion import Discussion, simulate, table
from simulation.replay import Replay, make_replay, run_sim
from simulation.trees import commit_all, git
from simulation.wire_cache import WireCache, compare

from aggregate import Usage, count
from tests.projects import project

ROOT = Path(__file__).parents[2]
TURNS = 8


@pytest.fixture
def replay(tmp_path: Path) -> Replay:
    """Return a replay of a repository of five files, whose last commits change one file each."""
    body = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(150))
    clone = project(tmp_path / "clone", {f"{name}.py": f"# {name}\n{body}" for name in "abcde"})
    commit_all(clone)
    for number, name in enumerate("bbd", 1):
        (clone / f"{name}.py").write_text(f"# {name} {number}\n{body}", encoding="utf-8")
        who = ["-c", "user.name=x", "-c", "user.email=x@y"]
        git(clone, *who, "commit", "-q", "-a", "-m", f"Change {name}")
    return make_replay(clone, tmp_path / "tree", commits=3, most_bytes=100_000)


def test_a_discussion_is_replayed_and_charged(replay: Replay, tmp_path: Path) -> None:
    """Every provider's account holds every token, and our order costs less than the naive one and than no cache."""
    assert replay.paths == ("a.py", "b.py", "c.py", "d.py", "e.py")
    assert [commit.subject for commit in replay.commits] == ["Change b", "Change b", "Change d"]
    books = simulate(replay, tmp_path, Discussion(TURNS, 3, 70, (60.0,) * (TURNS - 1)))
    providers = {"anthropic", "openai", "gemini", "deepseek", "minimax"}
    assert {one.provider for one in books} == providers
    for one in books:
        assert one.naive.total.input == one.afresh <= one.ours.total.input < 1.1 * one.afresh
        assert one.ours.input_price < 0.7 * one.naive.input_price
        assert one.ours.input_price < 0.7 * one.afresh
    assert len(list(table(books))) == 1 + 2 * len(books)
    assert (replay.folder / "d.py").read_text(encoding="utf-8").startswith("# d 3\n")


def test_a_slow_discussion_costs_little_more(replay: Replay, tmp_path: Path) -> None:
    """Pauses of ten minutes end the entries that live for five, and not those that live for an hour."""
    books = simulate(replay, tmp_path, Discussion(TURNS, 3, 70, (600.0,) * (TURNS - 1)))
    shares = {one.provider: one.ours.total.cache_share for one in books}
    assert shares["anthropic"] > 0.8
    assert shares["minimax"] == 0.0


def test_what_is_planned_is_what_arrives(replay: Replay, tmp_path: Path) -> None:
    """A cache that sees the bytes of requests alone accounts what each turn expects, after long pauses too (rule C-5)."""
    turns = list(compare(replay, tmp_path, Discussion(4, 2, 70, (60.0, 400.0, 4000.0))))
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


RUN = """
import pickle, sys
from simulation.__main__ import main
sys.argv = ["simulation", "recall", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
pickle.dumps(sys.modules["simulation.recall"].Plan)
"""


def test_simulations_are_listed_and_run_by_name() -> None:
    """Each module with a ``main``; an unknown name is answered with those that there are.

    One runs under its own name, so that what it hands to processes can be found there again.
    """
    known = set(simulations())
    assert {"anchors", "discussion", "instant", "sending", "style"} <= known
    assert not {"trees", "git_history", "replay", "__main__"} & known
    done = subprocess.run(
        [sys.executable, "-m", "simulation", "nothing"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("there is no simulation 'nothing': take one of acting, anchors, ")
    done = subprocess.run([sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True)
    assert (done.stderr, done.returncode) == ("", 0)
