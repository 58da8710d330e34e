"""``aggregate discussion`` and ``--discussion``: several discussions of one project."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.command_line import aggregate
from tests.fakes.senders import dripping
from tests.projects import project, turns_in

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(300))


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the configuration of a project, in whose folder the test is, with a turn in the configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    settings = '[files]\npaths = ["*.py"]\n[discussion]\nhistory = ["Noted."]\n'
    folder = project(tmp_path / "p", {"manual_slop.toml": settings, "a.py": CODE})
    monkeypatch.chdir(folder)
    return Path("manual_slop.toml")


def send(message: str, discussion: str = "") -> str:
    named = ["--discussion", discussion] if discussion else []
    code, _, err = aggregate("send", message, "--provider", "scripted", *named)
    assert code == 0, err
    return err


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*history.toml"))


def test_each_discussion_has_its_own_file(config: Path) -> None:
    """Turns go to the discussion that is named; those in the configuration are the default one's (S-4)."""
    send("One?")
    assert 'the discussion "retry-loop" begins' in send("Two?", "retry-loop")
    assert "begins" not in send("Three?", "retry-loop")
    assert names_in(config.parent) == [
        "manual_slop.retry-loop_history.toml",
        "manual_slop_history.toml",
    ]
    turns = turns_in(Path("manual_slop.retry-loop_history.toml"))
    assert [turn["content"] for turn in turns][::2] == ["Two?", "Three?"]
    _, prompt, _ = aggregate("run", "--stdout", "--discussion", "retry-loop", "-q")
    assert "Three?" in prompt
    assert "One?" not in prompt
    assert "Noted." not in prompt
    _, prompt, _ = aggregate("run", "--stdout", "-q")
    assert "Noted." in prompt
    assert "Three?" not in prompt


def test_a_prompt_shows_a_discussion_that_is_configured_or_asked_for(config: Path) -> None:
    """What no model answered stands apart, and what ``send`` began is in no prompt of ``run`` but by option (S-4)."""
    config.write_text('[files]\npaths = ["*.py"]\n', encoding="utf-8")
    send("Scripted?")
    with dripping("Real.", None, usage={"prompt_tokens": 3}) as server:
        asked = ("--model", "m", "--base-url", server.url)
        assert aggregate("send", "Asked?", *asked)[0] == 0
    send("Again?")

    def shown(*options: str) -> list[str]:
        _, prompt, _ = aggregate("run", "--stdout", "-q", *options)
        return re.findall(r"^User: (.*)", prompt, re.MULTILINE)

    assert shown() == []
    assert shown("--discussion", "default") == ["Asked?"]
    assert shown("--discussion", "scripted") == ["Scripted?", "Again?"]
    history = Path("manual_slop_history.toml")
    begun, _, turns = history.read_text(encoding="utf-8").partition("\n")
    assert begun == 'begun_by = "send"'
    history.write_text(turns, encoding="utf-8")
    assert shown() == ["Asked?"]
    send("Now mine?")
    assert shown() == ["Asked?", "Now mine?"]


def test_a_question_outside_of_all(config: Path) -> None:
    """``none`` knows of no turn and is kept in none (S-4)."""
    send("One?")
    before = Path("manual_slop_history.toml").read_bytes()
    _, out, _ = aggregate(
        "send", "Two?", "--provider", "scripted", "--discussion", "none", "--json"
    )
    answer = json.loads(out)
    assert answer["history"] is None
    prompt = Path(answer["path"]).read_text(encoding="utf-8")
    assert "Two?" in prompt
    assert "One?" not in prompt
    assert names_in(config.parent) == ["manual_slop_history.toml"]
    assert Path("manual_slop_history.toml").read_bytes() == before


def test_fork_keeps_what_the_cache_holds(config: Path) -> None:
    """A fork has all turns, also those of the configuration, and its first request reads all that was sent (S-5)."""
    send("One?")
    assert aggregate("discussion", "fork", "default", "b")[:2] == (
        0,
        "manual_slop.b_history.toml\n",
    )
    send("Elsewhere?", "c")
    said = send("Two?", "b")
    assert re.search(
        r"^the first [\d,]+ tokens are as in the last prompt[^;]*$", said, re.MULTILINE
    )
    turns = turns_in(Path("manual_slop.b_history.toml"))
    assert turns[0] == "Noted."
    assert len(turns) == 5
    said = send("Three?")
    assert re.search(
        r"^the first [\d,]+ tokens are as in the last prompt[^;]*$", said, re.MULTILINE
    )


def test_the_list(config: Path) -> None:
    """Name, turns, tokens, when it was last used, and what it continues (S-4)."""
    send("One?", "a")
    aggregate("discussion", "fork", "a", "b")
    os.utime("manual_slop.a_history.toml", (1_800_000_000, 1_800_000_000))
    code, out, _ = aggregate("discussion", "list")
    rows = [line.split("\t") for line in out.splitlines()]
    assert (code, [row[:2] for row in rows]) == (
        0,
        [["default", "1 turn"], ["a", "2 turns"], ["b", "2 turns"]],
    )
    assert rows[0][3:] == ["-"]
    assert rows[1][3].startswith("2027-01-15")
    assert rows[2][4] == "continues a"


def test_delete(config: Path) -> None:
    """A deleted discussion is gone after a question (S-5)."""
    send("One?", "b")
    code, _, err = aggregate("discussion", "delete", "b")
    assert (code, "add --yes" in err) == (2, True)
    assert aggregate("discussion", "delete", "b", "--yes")[:2] == (
        0,
        "manual_slop.b_history.toml\n",
    )
    assert names_in(config.parent) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["discussion", "show", "gone"], 'no such discussion: "gone": use one of default, a'),
        (["run", "--discussion", "gone"], 'no such discussion: "gone"'),
        (["discussion", "fork", "a", "../x"], "invalid name of a discussion '../x'"),
        (["discussion", "fork", "a", "A"], "invalid name of a discussion 'A'"),
        (["discussion", "fork", "a", "a"], "a discussion of this name already exists"),
        (["discussion", "fork", "a", "default"], 'the discussion "default" already exists'),
        (["discussion", "fork", "none", "b"], '"none" means no discussion'),
        (["discussion", "delete", "default", "-y"], 'the discussion "default" has no file of its own'),
        (["send", "x", "--provider", "scripted", "--discussion", "a b"], "invalid name of a discussion 'a b'"),
    ],
)  # fmt: skip
def test_mistakes(config: Path, arguments: list[str], said: str) -> None:
    """A name that is unknown, taken or no file name is one sentence, and nothing is written (S-4, S-5)."""
    send("One?", "a")
    before = sorted(config.parent.rglob("*"))
    code, out, err = aggregate(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert sorted(config.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "command", [["show", "a"], ["fork", "a", "b"], ["delete", "a", "-y"], ["fork", "c", "a2"]]
)
def test_a_link_that_leads_out(config: Path, tmp_path: Path, command: list[str]) -> None:
    """What a link in the project leads to is neither shown nor copied nor deleted (S-5)."""
    secret = tmp_path / "secret_history.toml"
    secret.write_text('history = ["secret"]\n', encoding="utf-8")
    Path("manual_slop.a_history.toml").symlink_to(secret)
    Path("manual_slop.c_history.toml").write_text('history = ["own"]\n', encoding="utf-8")
    Path("manual_slop.a2_history.toml").symlink_to(tmp_path / "new.toml")
    code, out, err = aggregate("discussion", *command)
    assert code != 0
    assert "secret" not in out + err.replace(str(secret), "")
    assert secret.exists()
    assert not (tmp_path / "new.toml").exists()
    assert not Path("manual_slop.b_history.toml").exists()


def test_a_folder_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``send --budget`` began in such a folder can be listed, shown, forked and deleted (S-4, T-6)."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.chdir(project(tmp_path / "p", {"a.py": CODE}))
    code, _, err = aggregate("discussion", "list")
    assert (code, "--budget 32k" in err) == (2, True)
    question = ("send", "Why?", "--provider", "scripted", "--budget", "4k", "--discussion", "a")
    assert aggregate(*question)[0] == 0
    assert "a\t2 turns" in aggregate("discussion", "list")[1]
    assert "Why?" in aggregate("discussion", "show", "a")[1]
    for arguments in (("fork", "a", "b"), ("delete", "b", "--yes")):
        code, _, err = aggregate("discussion", *arguments)
        assert code == 0, err
    assert names_in(Path()) == ["manual_slop.a_history.toml"]
