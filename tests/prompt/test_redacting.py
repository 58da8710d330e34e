"""Secrets in prompts: which texts lose them, what stays right, and who may switch it off."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from aggregate import FuzzyAnchor, View, compose_prompt, load_config, open_project, request_for, run
from aggregate.agents.goals import ChatModel, Question, QuestionKind
from aggregate.prompt import AskedViews
from aggregate.prompt.asking import redaction_for
from aggregate.sending import ModelSelection, prepare_turn, send_turn
from aggregate.sending.clients import ScriptedTransport, redacting, scripted_client
from tests.base.redaction.samples import PLANTED, digest_of, pem
from tests.cli.command_line import start
from tests.fakes.conducting import conducted, track_project
from tests.projects import project, turns_in
from tests.prompt.composing import in_index, result

KEY = next(sample for sample in PLANTED if sample.kind == "github-classic").value
SLACK = next(sample for sample in PLANTED if sample.kind == "slack-bot").value
PLACEHOLDER = "[REDACTED:github-token]"
CODE = f'''\
"""Talks to a service."""

TOKEN = "{KEY}"  # the token


class Service:
    """A service."""

    def call(self, token: str = "{KEY}") -> str:
        """Call it with {KEY}."""
        return token + "{KEY}"


def other() -> int:
    """Do something else."""
    return 1
'''
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["a.py"]\n'
VIEWS = ("full", "summary", "skeleton", "outline", "masked", "custom", "none")


@pytest.fixture(autouse=True)
def _own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".xdg"))
    monkeypatch.setenv("APPDATA", str(tmp_path / ".xdg"))


def globally(folder: Path, text: str) -> None:
    project(folder, {".xdg/manual_slop/manual_slop.toml": text})


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shown", ["files", "tier 3", "focus", "summaries", "in full"])
def test_no_view_shows_a_secret(tmp_path: Path, view: str, shown: str) -> None:
    """However a file is shown, in whatever section, its secret is not in the prompt, in no record, in no warning."""
    item: dict[str, object] = {
        "path": "a.py",
        "view_mode": view,
        "ast_mask": {"Service.call": "def"},
    }
    item["custom_slices"] = [{"start_line": 3, "end_line": 11, "tag": "t"}]
    item["force_full"] = shown == "in full"
    folder = project(
        tmp_path, {"a.py": CODE, "manual_slop.toml": f"[files]\npaths = {_toml([item])}\n"}
    )
    left, made = (
        compose_prompt(
            request_for(
                load_config(folder / "manual_slop.toml"),
                views=AskedViews(
                    strategy="summarize" if shown == "summaries" else None,
                    tier=3 if shown == "tier 3" else None,
                ),
                focus_files=["a.py"] if shown == "focus" else [],
                redact=redact,
            )
        )
        for redact in (False, True)
    )
    assert KEY in left.prompt.markdown or view not in ("full", "custom") or shown == "summaries"
    assert KEY not in made.prompt.markdown + json.dumps(made.records) + json.dumps(made.warnings)
    (warning,) = made.warnings
    assert warning.startswith("4 secrets replaced in a.py:3 and 3 more (github-token): ")


def test_names_and_remarks_lose_their_secrets(tmp_path: Path) -> None:
    """Names of files, also of missing and binary ones, and what is said of slices."""
    slices = [{"start_line": 1, "end_line": 2, "tag": KEY, "comment": f"see {KEY}"}]
    items: list[dict[str, object]] = [
        {"path": f"a/{KEY}.py"},
        {"path": f"missing/{KEY}.py"},
        {"path": "b/**"},
        {"path": "c.py", "view_mode": "custom", "custom_slices": slices},
    ]
    files = {
        f"a/{KEY}.py": "A = 1\n",
        f"b/{KEY}.bin": "\0\1",
        "b/b.py": "B = 1\n",
        "c.py": "C = 1\n\nD = 2\n",
    }
    folder = project(tmp_path, {**files, "manual_slop.toml": f"[files]\npaths = {_toml(items)}\n"})
    loaded = load_config(folder / "manual_slop.toml")
    prompt = compose_prompt(request_for(loaded, redact=True)).prompt
    assert KEY not in prompt.markdown
    assert prompt.markdown.count(PLACEHOLDER) == 6
    assert "A = 1" in prompt.markdown


def _toml(items: list[dict[str, object]]) -> str:
    return json.dumps(items).replace('": ', '" = ')


@pytest.mark.parametrize("view", VIEWS)
def test_the_source_map_is_that_of_the_file(tmp_path: Path, view: str) -> None:
    """Every line of a view leads to the same line of the file with and without redaction, private keys included."""
    text = f'KEY = """{pem("RSA", "k")}"""\n\n{CODE}'
    slices = [{"start_line": 20, "end_line": 25}]
    config = {
        "files": {
            "base_dir": str(tmp_path),
            "paths": [{"path": "a.py", "view_mode": view, "custom_slices": slices}],
        }
    }
    project(tmp_path, {"a.py": text})
    raw, clean = (
        compose_prompt(request_for(open_project(config), redact=redact)).records[0]
        for redact in (False, True)
    )
    assert clean["spans"] == raw["spans"]
    assert clean["content"].count("\n") == raw["content"].count("\n")
    for record in (raw, clean):
        view_of = View(record["content"], record["spans"])
        assert all(view_of.source_line(span.start) == span.source_start for span in record["spans"])


def test_slices_are_found_in_the_text_on_disk(tmp_path: Path) -> None:
    """A slice whose anchor holds the secret itself is found where it moved to, and shown redacted, in both prompts."""
    anchor = FuzzyAnchor.create_slice(CODE, 9, 11)
    item = {"path": "a.py", "view_mode": "custom", "custom_slices": [dict(anchor)]}
    folder = project(tmp_path, {"a.py": "import os\n\n" + CODE})
    config = {"files": {"base_dir": str(folder), "paths": [item]}}
    for tier in (None, 3):
        request = request_for(open_project(config), views=AskedViews(tier=tier), redact=True)
        made = compose_prompt(request).prompt.markdown
        assert "Lines 11-13: ---\n" in made
        assert f'return token + "{PLACEHOLDER}"' in made


def test_results_beads_and_discussion_lose_their_secrets(tmp_path: Path) -> None:
    """What other workers found and what was said before is redacted as files are, with the excerpt's name."""
    folder = project(
        tmp_path,
        {
            "a.py": "x = 1\n",
            "manual_slop.toml": CONFIG + f'[discussion]\nhistory = ["it is {KEY}"]\n',
        },
    )
    request = request_for(load_config(folder / "manual_slop.toml"), redact=True)
    found = result("$found", f"the token is {SLACK}")
    made = compose_prompt(replace(request, results=(found,)))
    assert KEY not in made.prompt.markdown
    assert SLACK not in made.prompt.markdown
    assert f"it is {PLACEHOLDER}" in made.prompt.markdown
    places = "$found:6 (slack-token), Discussion Excerpt 1:3 (github-token)"
    (warning,) = made.warnings
    assert warning.startswith(f"2 secrets replaced in {places}: ")


REPLACED = f"""\
warning: 4 secrets replaced in a.py:3 and 3 more (github-token): --no-redact keeps all, \
allow = ["{digest_of(KEY)}"] under [redaction], or a comment with aggregate: allow-secret on its line keeps one
"""
LEFT = "warning: 4 secrets not replaced in a.py and 3 more (github-token): --redact replaces them\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], LEFT),
        (["--redact"], REPLACED),
        (["--task", "call"], REPLACED),
        (["--budget", "4k"], REPLACED),
        (["--task", "call", "--budget", "4k"], REPLACED),
        (["--task", "call", "--no-redact"], LEFT),
        (["--task", "call", "--budget", "4k", "--no-redact"], LEFT),
    ],
    ids=" ".join,
)
def test_what_is_for_a_task_or_a_budget_is_redacted(
    options: list[str], told: str, tmp_path: Path
) -> None:
    """Any other run keeps its bytes; both tell in one line how many there are, where, and what the other option is."""
    folder = project(tmp_path, {"a.py": CODE, "manual_slop.toml": CONFIG})
    for _ in range(2):  # the second one with what the first one has kept
        ended = start(folder, "run", "--stdout", *options)
        assert (CODE in ended.out, KEY in ended.out) == (told is LEFT, told is LEFT)
        assert [line for line in ended.err.splitlines(keepends=True) if "secret" in line] == [told]


def test_send_redacts(tmp_path: Path) -> None:
    """By default ``send`` sends a file without secrets; an option sends it as it is."""
    folder = project(tmp_path, {"a.py": CODE, "manual_slop.toml": CONFIG})
    ended = start(folder, "send", "What is it?", "--provider", "scripted")
    assert ended.code == 0
    assert REPLACED in ended.err
    assert KEY not in ended.out + ended.err + (folder / "md_gen/demo_001.md").read_text()
    start(folder, "send", "And now?", "--provider", "scripted", "--no-redact")
    assert KEY in (folder / "md_gen/demo_002.md").read_text()


def test_what_was_sent_with_a_secret_is_not_sent_again(tmp_path: Path) -> None:
    """A block that a cache holds from a send without redaction is written anew, and no diff shows what it had."""
    many = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(800))
    config = CONFIG.replace('"a.py"', '"a.py", "b.py"')
    folder = project(tmp_path, {"a.py": CODE + many, "b.py": many, "manual_slop.toml": config})
    loaded = load_config(folder / "manual_slop.toml")
    raw = prepare_turn(
        loaded, "First?", ModelSelection("scripted", model="claude-opus-4-5", redact=False)
    )
    assert KEY in raw.prompt.markdown
    send_turn(raw)
    again = prepare_turn(loaded, "Second?", ModelSelection("scripted", model="claude-opus-4-5"))
    assert KEY not in again.plan.text
    assert not again.ordered.older


def test_the_discussion_keeps_what_was_said(tmp_path: Path) -> None:
    """A message is sent without its secret; the user's own file keeps it as it was typed."""
    folder = project(tmp_path, {"a.py": "x = 1\n", "manual_slop.toml": CONFIG})
    loaded = load_config(folder / "manual_slop.toml")
    made = prepare_turn(loaded, f"Why is {KEY} refused?", ModelSelection("scripted"))
    assert KEY not in made.plan.text
    done = send_turn(made)
    assert done.history is not None
    assert turns_in(done.history)[0] == {"role": "User", "content": f"Why is {KEY} refused?"}


def test_a_project_cannot_switch_it_off_for_what_is_sent(tmp_path: Path) -> None:
    """``send = false`` counts in the user's own configuration, a project's own is only told; an option is before both."""
    folder = project(
        tmp_path, {"a.py": CODE, "manual_slop.toml": CONFIG + "[redaction]\nsend = false\n"}
    )
    loaded = load_config(folder / "manual_slop.toml")
    assert redaction_for(loaded, sending=True).replaces
    assert any("redaction.send" in doubt for doubt in request_for(loaded).doubts)
    assert KEY not in prepare_turn(loaded, "Hm?", ModelSelection("scripted")).plan.text
    globally(folder, "[redaction]\nsend = false\n")
    assert not redaction_for(loaded, sending=True).replaces
    assert redaction_for(loaded, sending=True, wanted=True).replaces


def test_run_can_be_switched_on_by_both(tmp_path: Path) -> None:
    """``run = true`` counts in a project's configuration and in the user's own, from Python as well."""
    config = {
        "files": {"base_dir": str(tmp_path), "paths": ["a.py"]},
        "output": {"output_dir": str(tmp_path / "out")},
    }
    project(tmp_path, {"a.py": CODE})
    assert KEY in run(config)[0]
    assert KEY not in run({**config, "redaction": {"run": True}})[0]
    assert KEY not in run(config, task="call")[0]
    assert KEY in run(config, task="call", redact=False)[0]
    globally(tmp_path, "[redaction]\nrun = true\n")
    assert KEY not in run(config)[0]


def test_allowed_values_come_from_both(tmp_path: Path) -> None:
    """The allowed hashes of the project and of the user are taken together; another form is refused with its place."""
    folder = project(
        tmp_path,
        {
            "a.py": f'a = "{KEY}"\nb = "{SLACK}"\n',
            "manual_slop.toml": f'{CONFIG}[redaction]\nallow = ["{digest_of(KEY)}"]\n',
        },
    )
    globally(folder, f'[redaction]\nallow = ["{digest_of(SLACK)}"]\n')
    text = start(folder, "run", "--stdout", "--redact").out
    assert KEY in text
    assert SLACK in text
    project(folder, {"manual_slop.toml": f'{CONFIG}[redaction]\nallow = ["{KEY}"]\n'})
    assert "redaction.allow[0]" in start(folder, "run").err


def test_workers_send_no_secrets(tmp_path: Path) -> None:
    """The context of a ticket holds no secret of the project's files."""
    tickets = '[[tickets]]\nid = "a"\nprompt = "Say what one does."\nfocus_files = ["one.py"]\n'
    folder = track_project(tmp_path, tickets)
    path = folder / "src/one.py"
    path.write_text(path.read_text() + f'TOKEN = "{KEY}"\n')
    prompt = conducted(folder).prompt("a")
    assert KEY not in prompt
    assert PLACEHOLDER in prompt


def test_questions_of_the_engine_are_redacted() -> None:
    """What a tool found reaches the model without secrets; each is told once."""
    transport_client = scripted_client(["ok", "ok"])
    told: list[str] = []
    model = ChatModel(transport_client.through(redacting(tell=told.append)))
    for _ in range(2):
        model.ask(Question(QuestionKind.ANSWER, f"The file says {KEY}."))
    assert isinstance(transport_client.transport, ScriptedTransport)
    assert [request.plan.text for request in transport_client.transport.requests] == [
        f"The file says {PLACEHOLDER}."
    ] * 2
    assert len(told) == 1
    assert KEY not in told[0]


def test_invisible_characters_are_told_by_run(tmp_path: Path) -> None:
    """A file with invisible characters is unchanged; a warning lists their lines."""
    text = "if ok:\u202e } \u2066\n    pass\u200b\n"
    folder = project(tmp_path, {"a.py": text, "manual_slop.toml": CONFIG})
    ended = start(folder, "run", "--stdout")
    assert text in ended.out
    assert (
        "warning: a.py:1: invisible characters that a model reads: 3 in lines 1, 2 (" in ended.err
    )


@pytest.mark.parametrize(
    "asked", [{}, {"task": "call"}, {"budget": 500}, {"task": "call", "budget": 500}], ids=str
)
def test_texts_known_to_hold_none_are_not_searched_again(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    """Where secrets are replaced, a later run searches words and names, and of the files only those that hold secrets."""
    files = {
        "a.py": "def call():\n    return 1\n",
        "b.md": "# B\n",
        "c.go": "package c\n",
        "key.py": CODE,
    }
    config = {"files": {"base_dir": str(project(tmp_path / "p", files)), "paths": ["*"]}}
    request = request_for(open_project(config), redact=True, **asked)
    searched = []
    for _ in range(2):
        with in_index(tmp_path) as index:
            texts = searched_in(lambda: compose_prompt(request, index=index))
        searched.append({name for name, text in files.items() if text in texts})
    assert searched == [set(files), {"key.py"}]


def searched_in(work: Callable[[], object]) -> set[str]:
    """Return the texts in which secrets are looked for meanwhile."""
    texts: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "_find_secrets":
            texts.add(frame.f_locals["data"].decode())

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return texts


def test_a_flood_of_secrets_is_told_in_short(tmp_path: Path) -> None:
    """However many there are, in however many files, one line tells of them; all are replaced."""
    config = CONFIG.replace("a.py", "*.py")
    files = {f"{name}.py": f'k = "{KEY}"\n' * 50 for name in "abcdefghijklmno"}
    folder = project(tmp_path, {**files, "manual_slop.toml": config})
    loaded = load_config(folder / "manual_slop.toml")
    made = compose_prompt(request_for(loaded, views=AskedViews("full"), redact=True))
    assert KEY not in made.prompt.markdown
    (warning,) = made.warnings
    assert warning.startswith("750 secrets replaced in a.py:1 and 49 more (github-token), b.py:1 ")
    assert "(github-token), 5 more places: --no-redact" in warning
