"""``aggregate send`` and the prefix reports of ``run`` and ``diff``: what goes to which stream."""

import io
import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import aggregate
from tests.projects import project, turns_in

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(400))


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return the configuration of a project with two files."""
    settings = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n'
    files = {"src/a.py": f"# a\n{CODE}", "src/b.py": f"# b\n{CODE}"}
    return str(project(tmp_path, {"manual_slop.toml": settings} | files) / "manual_slop.toml")


def without_numbers(text: str) -> str:
    return re.sub(r"\d[\d,.]*", "#", text)


def test_the_answer_goes_to_standard_output_and_the_rest_to_standard_error(config: str) -> None:
    """Two turns without a key: answers, then usage, cache share, cost and the files."""
    folder = Path(config).parent
    code, out, err = aggregate("send", "First?", "-c", config, "--provider", "scripted")
    assert (code, without_numbers(out)) == (
        0,
        "No model was asked; # tokens in # blocks arrived at the scripted client.\n",
    )
    assert without_numbers(err.replace(str(folder), "")) == (
        'the discussion "scripted" begins\n'
        "# tokens in: # read from the cache (#%), # written, # fresh; # out; $# ($# expected, $# of it for later reads) if it had been asked\n"
        "/md_gen/demo_#md, /md_gen/manual_slop.scripted_history.toml\n"
    )
    code, _, err = aggregate("send", "Second?", "-c", config, "--provider", "scripted")
    assert code == 0
    first, second, third = err.splitlines()
    assert re.fullmatch(
        r"the first [\d,]+ tokens are as in the last prompt, so a provider's cache may hold them",
        first,
    )
    assert re.search(r"\(\d+%\), \d\d written, 0 fresh", second)
    assert third.endswith(
        "demo_002.md, " + str(folder / "md_gen/manual_slop.scripted_history.toml")
    )


def test_a_dry_run_shows_the_plan_and_does_nothing(config: str) -> None:
    """Blocks with their tokens, breakpoints, what is expected; no file is written."""
    before = sorted(Path(config).parent.rglob("*"))
    code, out, err = aggregate(
        "send", "First?", "-c", config, "--provider", "scripted", "--dry-run"
    )
    assert (code, err) == (0, 'the discussion "scripted" begins\n')
    assert re.sub(r" +", " ", without_numbers(out)).splitlines() == [
        " tokens segments role block",
        " # # document [files] … src/a.py",
        " ── breakpoint, # tokens, kept for an hour ──",
        " # # document src/b.py",
        " ── breakpoint, # tokens, kept for an hour ──",
        " # # document [history]",
        " # # user Discussion Excerpt #",
        " ── breakpoint, # tokens, kept for an hour ──",
        " # # in all, to scripted claude-sonnet-#",
        "chosen: provider scripted (option), model claude-sonnet-# (the provider's usual one), "
        "discussion scripted (its own)",
        "expected: # read from the cache, # written, # fresh; $# for the input",
    ]
    assert sorted(Path(config).parent.rglob("*")) == before


def test_json(config: str) -> None:
    """One document each for the plan and the answer."""
    send = ("send", "First?", "-c", config, "--provider", "scripted", "--json", "-q")
    _, out, err = aggregate(*send, "--dry-run")
    plan = json.loads(out)
    assert (err, plan["provider"], plan["expected"]["cache_read"], plan["prefix"]) == (
        "",
        "scripted",
        0,
        None,
    )
    assert plan["tokens"] == sum(block["tokens"] for block in plan["blocks"])
    _, out, err = aggregate(*send)
    answer = json.loads(out)
    assert (err, answer["stop"], answer["usage"]["cache_write"]) == ("", "end", plan["tokens"])
    assert answer["cost"] > 0
    _, out, _ = aggregate(*send, "--dry-run", "--provider", "deepseek", "--effort", "high")
    assert json.loads(out)["warnings"] == [
        "deepseek deepseek-flash does not support effort: high is ignored"
    ]


def test_compact(config: str) -> None:
    """Alone it prints the summary, before a message it says what was done, and a dry run does nothing (S-9)."""
    ask = ("send", "What of the parser? " * 200, "-c", config, "--provider", "scripted", "-q")
    for _ in range(4):
        aggregate(*ask)
    history = Path(config).with_name("md_gen") / "manual_slop.scripted_history.toml"
    before = history.read_bytes()
    compact = ("send", "--compact", "-c", config, "--provider", "scripted")
    _, out, err = aggregate(*compact, "--dry-run", "--json")
    assert (json.loads(out)["turns"], json.loads(out)["kept_as"]) == (4, "scripted-full")
    assert err == ""
    _, out, err = aggregate(*compact, "--dry-run")
    assert (" summarises 4 turns (" in out, err) == (True, "")
    assert history.read_bytes() == before
    code, out, err = aggregate(*compact, "And now?")
    assert (code, out.count("\n")) == (0, 1)
    assert "all turns are saved" in err
    assert len(turns_in(history)) == 7
    assert aggregate(*ask)[0] == 0
    assert aggregate(*ask)[0] == 0
    _, out, _ = aggregate(*compact, "--json", "-q")
    assert json.loads(out)["text"].startswith("No model was asked")
    assert aggregate(*ask)[0] == 0
    assert aggregate(*ask)[0] == 0
    assert re.fullmatch(r"No model was asked; .*\n", aggregate(*compact, "-q").out)
    code, _, err = aggregate("send", "-c", config, "--provider", "scripted")
    assert (code, "the message is missing: aggregate send MESSAGE" in err) == (2, True)


def test_a_message_may_come_from_standard_input(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``-`` reads it; the answer is the only output of a quiet send."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"A question\nof two lines.\n")))
    ended = aggregate("send", "-", "-c", config, "--provider", "scripted", "-q")
    assert (ended.code, ended.err) == (0, "")
    file = Path(config).with_name("md_gen") / "manual_slop.scripted_history.toml"
    history = file.read_text("utf-8")
    assert 'content = """\nA question\nof two lines.\n"""' in history


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["send", " ", "--provider", "scripted"], 2, "the message is empty"),
        (["send", "\ud800", "--provider", "scripted"], 2, "the message is not UTF-8"),
        (["send", "x"], 2, "aggregate: no provider is set: use one of anthropic"),
        (["send", "x", "--persona", "p"], 2, 'no such persona: "p": write a table [personas.p]'),
    ],
)
def test_mistakes_are_one_line(config: str, arguments: list[str], code: int, message: str) -> None:
    """What is wrong and what to do, with exit code 2 and no traceback."""
    found, out, err = aggregate(*arguments, "-c", config)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


def test_a_verbose_run_compares_with_the_last_prompt(config: str) -> None:
    """How much is as before, and which file differs; a usual run leaves that out."""
    path = Path(config).parent / "src" / "b.py"
    _, _, err = aggregate("run", "-c", config)
    path.write_text(path.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
    _, _, err = aggregate("run", "-c", config, "-v")
    sentence = "tokens are as in the last prompt, so a provider's cache may hold them"
    assert re.search(rf"^the first [\d,]+ {sentence}; src/b.py differs$", err, re.MULTILINE)
    _, _, err = aggregate("run", "-c", config, "-v")
    assert re.search(rf"^the first [\d,]+ {sentence}$", err, re.MULTILINE)
    _, _, err = aggregate("run", "-c", config)
    assert "last prompt" not in err


def test_a_dry_run_shows_both_counts(config: str) -> None:
    """The provider's count and ours, the ratio with its source, and the budget that both keep to (rule B-10)."""
    ask = ["send", "What does name_7 do?", "-c", config, "--dry-run", "--budget", "6k"]
    ask += ["--provider", "anthropic", "--model", "claude-sonnet-4-5"]
    code, out, _ = aggregate(*ask)
    assert code == 0
    (line,) = (line for line in out.splitlines() if "by o200k" in line)
    counts = re.fullmatch(
        r"about ([\d,]+) tokens by anthropic's count, ([\d,]+) by o200k \(1\.25 per token, an estimate as of [\d-]+, used until "
        r"anthropic has reported its own counts\); the budget is 6,000",
        line,
    )
    assert counts is not None
    theirs, ours = (int(number.replace(",", "")) for number in counts.groups())
    assert 0.9 * 6_000 < theirs <= 6_000
    _, out, _ = aggregate(*ask, "--json")
    data = json.loads(out)
    assert (data["tokens"], data["provider_tokens"], data["budget"]) == (ours, theirs, 6_000)
    assert (data["ratio"], data["ratio_source"][:11]) == (1.25, "an estimate")


def test_a_budget_that_is_too_small(config: str) -> None:
    """One sentence says what would do, and nothing is written (rule B-4)."""
    before = sorted(Path(config).parent.rglob("*"))
    ask = ("send", "Explain. " * 200, "-c", config, "--provider", "scripted", "--budget")
    code, out, err = aggregate(*ask, "50")
    assert (code, out) == (1, "")
    smallest = re.search(r"more than the budget of 50; .* allow --budget (\d+)", err)
    assert smallest is not None
    assert sorted(Path(config).parent.rglob("*")) == before
    assert aggregate(*ask, smallest[1], "--dry-run")[0] == 0


def test_what_the_user_points_at(config: str) -> None:
    """``send`` ranks from places and names as ``run`` does; without a budget that decides nothing (rules T-1, T-2)."""
    ask = ("send", "What is this?", "-c", config, "--provider", "scripted", "--dry-run", "--json")
    focus = (*ask, "--focus", str(Path(config).parent / "src" / "b.py") + ":401")
    code, out, _ = aggregate(*focus, "--symbol", "name_7", "--budget", "3k")
    assert (code, json.loads(out)["budget"]) == (0, 3_000)
    assert "src/b.py" in {
        source for block in json.loads(out)["blocks"] for source in block["sources"]
    }
    code, out, err = aggregate(*focus)
    assert (code, out) == (2, "")
    assert "need a budget: add one, such as --budget 32k" in err
