"""Gemini through its program."""

import asyncio
import json
from pathlib import Path

import pytest

from aggregate import ChatRequest, Client, ClientSetupError, ProviderError, Usage
from aggregate.sending.clients.connection import ApiKey
from aggregate.sending.clients.gemini_cli import GeminiCli
from tests.fakes.gemini import ANSWERS, HANGS, REFUSES, install
from tests.fakes.prompts import state
from tests.fakes.transports import ONCE
from tests.hostile.running import ends

DECORATED = state(
    {
        "a.py": (
            "@dataclass\nclass A:\n    @property\n    def b(self): ...\n# mail me@example.org",
            0,
        )
    },
    [],
)


def client(program: Path, **more: object) -> Client:
    return Client("gemini-cli", GeminiCli(str(program), **more), retry=ONCE)  # type: ignore[arg-type]


def test_the_prompt_arrives_whole_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every ``@name`` is looked up in the working directory, so that is empty and the user's own; it is gone then.

    The program reads settings in all folders above, and in the system's temporary one anybody may have put some.
    """
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "states"))
    program = install(tmp_path / "bin", ANSWERS)
    pieces: list[str] = []
    reply = client(program).send(
        ChatRequest(DECORATED.prompt, "Why?", model="gemini-3.5-flash"), pieces.append
    )
    assert (reply.text, pieces, reply.usage) == ("Yes.", ["Ye", "s."], Usage(388, 0, 512, 20))
    seen = json.loads((tmp_path / "bin" / "seen.json").read_text(encoding="utf-8"))
    assert seen["text"] == DECORATED.prompt.markdown + "\n\nWhy?"
    assert (seen["names"], seen["found"]) == ([], [])
    assert Path(seen["folder"]).is_relative_to(tmp_path / "states")
    assert seen["mode"] == 0o700
    assert not Path(seen["folder"]).exists()
    assert seen["arguments"][-2:] == ["--model", "gemini-3.5-flash"]


def test_a_failure_is_one_line_without_the_key(tmp_path: Path) -> None:
    """The exit code says what is wrong; a key in the program's words is hidden."""
    program = install(tmp_path / "bin", REFUSES.format(key="k-planted-77"))
    with pytest.raises(ProviderError) as caught:
        client(program, key=ApiKey("k-planted-77")).send(ChatRequest(DECORATED.prompt, "Why?"))
    assert str(caught.value) == (
        "gemini-cli is not signed in: run gemini once, or set GEMINI_API_KEY: Please set an Auth method, key (hidden)"
    )


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """The error says how to get it."""
    with pytest.raises(
        ClientSetupError, match="is not on PATH: run npm install -g @google/gemini-cli"
    ):
        client(tmp_path / "nowhere").send(ChatRequest(DECORATED.prompt, "Why?"))


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    """After the time allowed, and when the task is cancelled."""
    program = install(tmp_path / "bin", HANGS)
    with pytest.raises(ProviderError, match="gemini-cli did not answer in time"):
        client(program, seconds=0.3).send(ChatRequest(DECORATED.prompt, "Why?"))

    async def cancelled() -> None:
        task = asyncio.create_task(client(program).exchange(ChatRequest(DECORATED.prompt, "Why?")))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ends():
        asyncio.run(cancelled())


def test_too_much_for_the_program(tmp_path: Path) -> None:
    """It would cut its input in silence, so more than it reads is refused."""
    program = install(tmp_path / "bin", ANSWERS)
    plan = state({"a.txt": ("a\n" * 4_000_000, 0)}, []).plan(("gemini-cli", ""))
    asked = client(program)
    with pytest.raises(
        ProviderError, match="gemini-cli reads at most 8,000,000 bytes and the prompt has 8,000,023"
    ):
        asked.send(ChatRequest(plan=plan))
