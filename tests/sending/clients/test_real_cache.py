"""A real server: its prefix cache holds what was planned as stable, and its grammar holds answers to a schema."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate import Prompt, RequestOptions, open_client
from aggregate.sending.cache.request_plan import Message, RequestPlan, messages_of
from tests.sending.cache.prompts import state

pytest.importorskip(
    "xllamacpp", reason="pip install xllamacpp gguf: the tests of a real cache need it"
)
SAID = [("User: what does first do?", 0), ("AI: it returns its name.", 0)]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the tiny model and return its address."""
    folder = tmp_path_factory.mktemp("model")
    command = [sys.executable, "-m", "tests.fakes.tiny_server", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        # Its libraries may print lines of their own.
        yield next(line.strip() for line in server.stdout if line.startswith("http"))
        server.kill()


def turns(folder: str) -> tuple[Prompt, Prompt, Prompt]:
    """Return a first turn, one with two more excerpts, and one in which the last file has changed."""
    files = {
        f"{folder}/{name}.py": (f"def {name}(): return {name!r}\n" * 20, 0)
        for name in ("first", "second", "third")
    }
    changed = {**files, f"{folder}/third.py": ("def third(): return 3\n", 0)}
    return (
        state(files, SAID[:1]).prompt,
        state(files, SAID + SAID[:1]).prompt,
        state(changed, SAID + SAID[:1]).prompt,
    )


def wire_text(plan: RequestPlan) -> str:
    """Return what the tiny model's template makes of a request."""
    return "".join(f"<{_role(one)}>{one.text}" for one in messages_of(plan))


def _role(message: Message) -> str:
    return "assistant" if message.is_assistant else "user"


@pytest.mark.parametrize(("provider", "path"), [("anthropic", ""), ("compatible", "/v1")])
def test_the_next_turn_reads_the_stable_prefix(llama: str, provider: str, path: str) -> None:
    """Turn two reads all of turn one; a change in the last file leaves what stands before it (a token is a byte)."""
    client = open_client(
        provider, model="tiny", base_url=llama + path, environ={"ANTHROPIC_API_KEY": "none-needed"}
    )
    short = RequestOptions(max_output=4)
    prompts = turns(provider)
    usages = [client.send(prompt, "", options=short).usage for prompt in prompts]
    sizes = [len(wire_text(client.plan(prompt, "")).encode()) for prompt in prompts]
    shared = len(prompts[1].markdown.split("return 'third'")[0].encode())
    for usage, size in zip(usages, sizes, strict=True):
        assert abs(usage.input - size) <= 8
    assert usages[0].cache_read < 40
    assert sizes[0] - 8 <= usages[1].cache_read <= sizes[0] + 8
    assert shared - 16 <= usages[2].cache_read <= shared + 16


SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "boolean"},
        "note": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["answer", "note"],
    "additionalProperties": False,
}


def test_an_answer_has_the_form_of_its_schema(llama: str) -> None:
    """A model of random weights writes noise, and JSON of the schema where one is asked for."""
    client = open_client("compatible", model="tiny", base_url=f"{llama}/v1", environ={})
    reply = client.send(
        Prompt(()),
        "Yes or no?",
        options=RequestOptions(max_output=200, temperature=0.0, schema=SCHEMA),
    )
    answer = json.loads(reply.text)
    assert list(answer) == ["answer", "note"]
    assert isinstance(answer["answer"], bool)
    assert answer["note"] is None or isinstance(answer["note"], int)
