"""Requests for hosts with an SDK of their own: planned, in each SDK's form, and recorded."""

import inspect
import runpy
import types as python_types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from aggregate import (
    ChatRequest,
    ClientSetupError,
    ProviderError,
    Usage,
    plan_for,
    record,
    to_anthropic,
    to_gemini,
    to_openai,
)
from aggregate.sending import charges
from aggregate.sending.clients import Effort
from tests.fakes.chat_server import ANSWER, ChatServer, chat_server
from tests.fakes.user_files import turns_in
from tests.projects import project

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "hosts"
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(200))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n[personas.brief]\nsystem_prompt = "Be brief."\n'
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
SCHEMA = {
    "type": "object",
    "properties": {"yes": {"type": "boolean"}},
    "required": ["yes"],
    "additionalProperties": False,
}
OPTIONS = ChatRequest(system="Be brief.", effort=Effort.LOW, schema=SCHEMA, max_output=500)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the configuration of a project of two files, in an environment without keys."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "ab"}
    return str(project(tmp_path, {"manual_slop.toml": CONFIG} | files) / "manual_slop.toml")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


def unknown_keys(value: Any, hint: Any, place: str = "") -> list[str]:
    """Return the keys of a mapping that no TypedDict of ``hint`` has, with where they stand."""
    if get_origin(hint) in (Union, python_types.UnionType):
        tries = [unknown_keys(value, option, place) for option in get_args(hint)]
        return min(tries, key=len)
    if isinstance(value, list):
        if hint in (object, Any):
            return []
        if not get_args(hint):
            return [place]
        item = get_args(hint)[0]
        return [key for one in value for key in unknown_keys(one, item, f"{place}[]")]
    if not isinstance(value, dict):
        return [] if get_origin(hint) or not hasattr(hint, "__total__") else [place]
    if not hasattr(hint, "__total__"):
        return [] if hint in (object, Any) or get_origin(hint) is dict else [place]
    known = get_type_hints(hint)
    unknown = [f"{place}.{key}" for key in value if key not in known]
    deeper = [
        found
        for key, inner in value.items()
        if key in known
        for found in unknown_keys(inner, known[key], f"{place}.{key}")
    ]
    return unknown + deeper


def test_a_plan_needs_no_key_and_shows_its_blocks(config: str) -> None:
    """Role, text and breakpoint of each block; nothing is written."""
    before = sorted(Path(config).parent.rglob("*"))
    planned = plan_for(config, "claude-sonnet-5", "Why?", persona="brief")
    first, *_, last = planned.plan.blocks
    assert (first.role, first.text, first.has_breakpoint) == ("system", "Be brief.", False)
    assert (last.role, last.words, last.has_breakpoint) == ("user", "Why?", True)
    assert last.text == "\n\n### Discussion Excerpt 1\n\nUser: Why?"
    assert (planned.client.provider, planned.prefix, planned.warnings) == ("anthropic", None, ())
    assert sorted(Path(config).parent.rglob("*")) == before


def test_anthropic_takes_the_mapping(config: str) -> None:
    """Every key at every depth is one of the SDK's own types, and ``create`` has each argument."""
    import anthropic
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    body = to_anthropic(plan_for(config, "claude-sonnet-5", "Why?", options=OPTIONS))
    assert unknown_keys(body, MessageCreateParamsNonStreaming) == []
    inspect.signature(anthropic.Anthropic(api_key="k").messages.create).bind(**body)
    assert (body["model"], body["max_tokens"]) == ("claude-sonnet-5", 500)
    assert body["output_config"]["effort"] == "low"


@pytest.mark.parametrize(
    ("model", "provider", "limit"),
    [
        ("gpt-5.6", "", "max_completion_tokens"),
        ("deepseek-flash", "", "max_tokens"),
        ("qwen", "compatible", "max_tokens"),
    ],
)
def test_openai_takes_the_mapping(config: str, model: str, provider: str, limit: str) -> None:
    """The same of Chat Completions, for all that speak it."""
    import openai
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    body = to_openai(plan_for(config, model, "Why?", provider=provider, options=OPTIONS))
    assert unknown_keys(body, CompletionCreateParamsNonStreaming) == []
    inspect.signature(openai.OpenAI(api_key="k").chat.completions.create).bind(**body)
    assert (body["model"], body[limit]) == (model, 500)


def test_gemini_takes_the_mapping(config: str) -> None:
    """The SDK's models, which refuse what they do not know, take it."""
    from google.genai import types

    body = to_gemini(plan_for(config, "gemini-3.5-flash", "Why?", options=OPTIONS))
    types.GenerateContentConfig.model_validate(body.pop("config"))
    for content in body.pop("contents"):
        types.Content.model_validate(content)
    assert body == {"model": "gemini-3.5-flash"}


def test_a_plan_is_for_one_kind_of_api(config: str) -> None:
    """Breakpoints of one API are refused by another, so the mapping is not made."""
    planned = plan_for(config, "claude-sonnet-5", "Why?")
    with pytest.raises(ClientSetupError, match="planned for anthropic, which to_openai does not"):
        to_openai(planned)
    with pytest.raises(ClientSetupError, match="cannot guess the provider of 'qwen'"):
        plan_for(config, "qwen", "Why?")


def test_a_recorded_turn_is_remembered(config: str) -> None:
    """The next plan has the turns, the diff of a file that has changed, and the report, as after ``send``."""
    first = plan_for(config, "claude-sonnet-5", "Why?")
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 9000, "output_tokens": 2}
    done = record(first, usage, "So.")
    assert done.reply.usage == Usage(3, 9000, 0, 2)
    assert done.path.read_text(encoding="utf-8") == f"{first.plan.text}\n"
    assert done.answer is not None
    assert done.answer.read_text(encoding="utf-8") == "So."
    assert done.history is not None
    assert [turn["content"] for turn in turns_in(done.history)] == ["Why?", "So."]
    file = Path(config).parent / "src" / "a.py"
    file.write_text(file.read_text(encoding="utf-8") + "# new\n", encoding="utf-8")
    second = plan_for(config, "claude-sonnet-5", "And now?")
    assert second.prefix is not None
    assert second.expected.cache_read > 0.9 * first.plan.total
    assert [(block.role, block.words) for block in second.plan.blocks[-3:]] == [
        ("user", "Why?"),
        ("assistant", "So."),
        ("user", "And now?"),
    ]
    assert "+# new" in "".join(block.text for block in second.plan.blocks)


def test_a_turn_is_recorded_once(config: str) -> None:
    """A second call, an answer without text, and a question of nothing are refused; the discussion stays (S-6)."""

    def requests() -> list[int]:
        folder = str(Path(config).parent)
        return [row.requests for row in charges() if row.project == folder]

    planned = plan_for(config, "claude-opus-5", "Why?")
    with pytest.raises(ProviderError, match="answered nothing"):
        record(planned, None, None)
    assert requests() == []  # the host may call again with the answer
    record(planned, None, "So.")
    assert requests() == [1]
    other = plan_for(config, "claude-opus-5", "And?")
    for _ in range(2):
        with pytest.raises(ClientSetupError, match="already recorded"):
            record(planned, None, "So.")
        # In any order, and the same question once more is another turn.
        record(other, None, "So.")
        other = plan_for(config, "claude-opus-5", "Why?")
    assert len(turns_in(Path(config).with_name("manual_slop_history.toml"))) == 6
    with pytest.raises(ClientSetupError, match="the message is empty"):
        plan_for(config, "claude-opus-5", " ")


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini"])
def test_examples(
    config: str,
    server: ChatServer,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The examples of the documentation run as they stand, twice: the second time they report the prefix."""
    monkeypatch.chdir(Path(config).parent)
    for key in KEYS[:3]:
        monkeypatch.setenv(key, "none-needed")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    for number in (1, 2):
        runpy.run_path(str(EXAMPLES / f"{name}_host.py"))
        out = capsys.readouterr().out
        path = Path(config).parent / "md_gen" / f"demo_00{number}.md"
        first, second, *rest = out.splitlines()
        assert (first, second) == (
            ANSWER,
            f"1100 tokens were read from the cache; {path.relative_to(Path.cwd())}",
        )
        assert len(rest) == number - 1
    assert len(server.bodies) == 2
    assert len(str(server.bodies[1])) > len(str(server.bodies[0]))
