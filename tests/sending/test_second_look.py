"""A second look: a model is asked once, what it picks is kept, and whatever goes wrong leaves the prompt as it was."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import Budget, ProviderError, Task, load_config, request_for
from aggregate.project.index import Index, open_index
from aggregate.prompt import compose_prompt
from aggregate.prompt.asking import Request
from aggregate.prompt.document import Prompt
from aggregate.sending import ModelSelection, look_again, prepare_turn, send_turn
from aggregate.sending.clients import Script, open_client, scripted_client
from tests.fakes.chat_server import chat_server
from tests.fakes.topics import TOPICS, add_areas, module_about
from tests.fakes.user_files import by_user
from tests.projects import project

WORDS = "What does the upper part of the lantern do?"
KEY = "ghp_" + "a1B2" * 9
ANSWER = json.dumps(
    {"files": [{"file": 4, "confidence": 0.9, "why": "is near"}], "definitions": []}
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project of a file for each topic, of a user whom no model has answered yet."""
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"AGGREGATE_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    files = {f"src/{topic}.py": module_about(topic) for topic in TOPICS}
    files["src/secret.py"] = f'def lantern_key(token="{KEY}"):\n    return token\n'
    config = '[files]\npaths = ["src/*.py"]\n'
    return project(tmp_path / "project", {"manual_slop.toml": config} | files)


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with open_index() as index:
        yield index


def asked(folder: Path, *, redact: bool | None = None) -> Request:
    loaded = load_config(folder / "manual_slop.toml")
    return request_for(loaded, task=Task(WORDS), budget=Budget(1_000), redact=redact)


def markdown(request: Request) -> str:
    return compose_prompt(request, index=open_index(use=False)).prompt.markdown


def test_a_model_is_asked_once_for_a_task_and_its_files(folder: Path, index: Index) -> None:
    """The same prompt is made again without asking, with the same bytes; another content is asked about (rule T-10)."""
    asks: list[str] = []

    def script(request: object) -> str:
        asks.append(str(request))
        return ANSWER

    client = scripted_client(script)
    first = look_again(asked(folder), client, index=index)
    again = look_again(asked(folder), client, index=index)
    assert len(asks) == 1
    assert first.request == again.request
    assert markdown(first.request) == markdown(again.request)
    assert markdown(first.request) != markdown(asked(folder))
    (note,) = first.notes
    assert note.startswith("second look: scripted:claude-sonnet-5 picks src/")
    assert " tokens in, " in note
    assert again.notes == (f"{note} (stored answer)",)
    with (folder / "src/lantern.py").open("a", encoding="utf-8") as file:
        file.write("# more\n")
    look_again(asked(folder), client, index=index)
    assert len(asks) == 2


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([ProviderError("it is out of order")], "it is out of order"),
        ([""], "scripted:claude-sonnet-5 picked nothing in the project"),
        (["I cannot say."], "scripted:claude-sonnet-5 picked nothing in the project"),
        ([], "the script has no answer to request 1: add one"),
    ],
)
def test_what_goes_wrong_leaves_the_prompt_as_it_was(
    folder: Path, index: Index, script: Script, reason: str
) -> None:
    """A failure, an empty and a silly answer are a warning, and are not kept (rule T-10)."""
    request = asked(folder)
    looked = look_again(request, scripted_client(script), index=index)
    assert looked.request is request
    assert looked.warnings == (f"second look: {reason}; the prompt is made without it",)
    assert look_again(request, scripted_client([ANSWER]), index=index).notes


def test_whom_nobody_knows_is_a_warning(folder: Path, index: Index) -> None:
    """A name that is no provider, and a provider without a key, leave the prompt as it was (rule T-10)."""
    looked = look_again(asked(folder), "nobody", index=index)
    assert looked.request.task == Task(WORDS)
    assert "second look: " in looked.warnings[0]


def test_no_secret_is_shown_to_the_model(folder: Path, index: Index) -> None:
    """What is sent has its secrets replaced, also where the prompt on this machine keeps them (rule T-10)."""
    said: list[str] = []

    def script(request: object) -> str:
        said.append(repr(request))
        return ANSWER

    look_again(asked(folder, redact=False), scripted_client(script), index=index)
    assert "lantern_key" in said[0]
    assert KEY not in said[0]


def test_only_a_task_with_a_budget_is_looked_at(folder: Path, index: Index) -> None:
    """A prompt that shows all, or has no task, is as it was, and nobody is asked (rule T-10)."""
    loaded = load_config(folder / "manual_slop.toml")
    for request in (
        request_for(loaded, task=Task(WORDS)),
        request_for(loaded, budget=2_000),
        request_for(loaded, task=Task("", symbols=("lantern_upper",)), budget=2_000),
    ):
        assert look_again(request, scripted_client([]), index=index).request is request


@pytest.mark.parametrize("whose", ["the user", "the project", "nobody"])
def test_a_send_with_a_budget_asks_its_own_model_first(folder: Path, whose: str) -> None:
    """``[send] pick`` says so, what a project decides is told, and a plan asks nobody (rule T-10)."""
    if whose == "the user":
        by_user("[send]\npick = true\n")
    elif whose == "the project":
        with (folder / "manual_slop.toml").open("a", encoding="utf-8") as file:
            file.write("[send]\npick = true\n")
    loaded = load_config(folder / "manual_slop.toml")
    chosen = ModelSelection(provider="scripted", budget=3_000)
    plan = prepare_turn(loaded, WORDS, chosen, environ={}, require_key=False)
    assert not [warning for warning in plan.warnings if "second look: " in warning]
    turn = prepare_turn(loaded, WORDS, chosen, environ={})
    silly = [warning for warning in turn.warnings if warning.startswith("second look: scripted")]
    assert bool(silly) is (whose != "nobody")
    told = "chosen by the project's own configuration: pick"
    assert any(told in warning for warning in turn.warnings) is (whose == "the project")
    assert turn.prompt == plan.prompt != Prompt(())


SURE = "Fix lantern_upper() in src/lantern.py"
VAGUE = "Why is the weather so strange in the middle of it?"


def task(folder: Path, text: str) -> Request:
    add_areas(folder / "src")
    loaded = load_config(folder / "manual_slop.toml")
    return request_for(loaded, task=Task(text), budget=Budget(1_000))


@pytest.mark.parametrize(("text", "count"), [(SURE, 0), (VAGUE, 1)])
def test_auto_only_asks_about_an_unsure_ranking(
    folder: Path, index: Index, text: str, count: int
) -> None:
    """A task that names a file or definition asks nobody; a vague one does, and one line says so (rule T-17)."""
    asks: list[object] = []

    def script(request: object) -> str:
        asks.append(request)
        return ANSWER

    request = task(folder, text)
    looked = look_again(request, scripted_client(script), index=index, is_auto=True)
    assert (len(asks), len(looked.notes)) == (count, count)
    assert (looked.request is request) is (count == 0)
    assert not looked.warnings


def test_a_second_look_keeps_to_the_day(folder: Path, index: Index) -> None:
    """A second look that ``most_per_day`` does not allow is not paid for (rule T-17)."""
    by_user("[send]\nmost_per_day = 0.0001\n")
    with chat_server(ANSWER) as server:
        client = open_client("anthropic", base_url=server.url, environ={"ANTHROPIC_API_KEY": "k"})
        looked = look_again(task(folder, VAGUE), client, index=index)
        assert not server.bodies
    (warning,) = looked.warnings
    assert warning.startswith("second look: it could cost $0.0")
    assert warning.endswith(", above most_per_day; the prompt is made without it")


def test_auto_only_asks_before_the_first_answer(folder: Path) -> None:
    """``[task] pick = "auto"`` of the user counts for a new discussion, whose files nothing holds yet (rule T-17)."""
    by_user('[task]\npick = "auto"\n')
    add_areas(folder / "src")
    loaded = load_config(folder / "manual_slop.toml")
    chosen = ModelSelection(provider="scripted", budget=3_000, discussion="talk")

    def is_asked(message: str, selection: ModelSelection = chosen) -> bool:
        turn = prepare_turn(loaded, message, selection, environ={})
        return any("second look: " in warning for warning in turn.warnings)

    assert is_asked(VAGUE)
    assert not is_asked(SURE)
    assert not is_asked(VAGUE, replace(chosen, pick=False))
    send_turn(prepare_turn(loaded, SURE, chosen, environ={}))
    assert not is_asked(VAGUE)
