"""Explicit caches of Gemini's from turn to turn, against a server that keeps caches."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aggregate import open_project
from aggregate.prompt import request_log_path
from aggregate.sending import CompletedTurn, ModelSelection, prepare_turn, send_turn
from aggregate.sending.clients.gemini_cache_store import read_caches
from aggregate.sending.clients.gemini_caches import Action
from aggregate.sending.gemini_caching import prune_caches
from tests.fakes.chat_server import ANSWER, ChatServer, chat_server
from tests.projects import project

CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n" for n in range(900))
CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["src/*.py"]\n[personas.brief]\nsystem_prompt = "Be brief."\n'
KEY = {"GEMINI_API_KEY": "gemini-key"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """Serve Gemini's protocol; its own cache reads next to nothing."""
    with chat_server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose prompt has some 15,000 tokens, with a state folder of its own."""
    monkeypatch.setenv("AGGREGATE_STATE_DIR", str(tmp_path / "state"))
    files = {f"src/{name}.py": f"# {name}\n{CODE}" for name in "ab"}
    return project(tmp_path / "project", {"manual_slop.toml": CONFIG} | files)


def turn(folder: Path, server: ChatServer, message: str, *, pause: float = 60.0) -> CompletedTurn:
    """Hold a turn, ``pause`` seconds behind the last one."""
    output = folder / "md_gen"
    for prompt in sorted(output.glob("demo_*[0-9].md")):
        log = request_log_path(prompt)
        if log.exists():
            os.utime(log, (log.stat().st_atime, log.stat().st_mtime - pause))
    loaded = open_project(folder / "manual_slop.toml")
    selection = ModelSelection("gemini", persona="brief", base_url=server.url)
    return send_turn(prepare_turn(loaded, message, selection, environ=KEY), loaded)


def test_a_cache_is_made_used_and_deleted(folder: Path, server: ChatServer) -> None:
    """The first two turns show that Google's own cache misses; the third makes one, the fourth uses it."""
    turn(folder, server, "One?")
    turn(folder, server, "Two?")
    assert server.caches == []
    assert not any("cache" in warning for warning in turn(folder, server, "Three?").warnings)
    (name,) = server.caches
    (path, made), (_, used) = server.requests[-2:]
    assert path.split("?")[0].endswith("/cachedContents")
    assert made["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert made["contents"][0]["parts"][0]["text"].endswith("## Discussion History")
    assert made["ttl"] == "900s"
    assert used["cachedContent"] == name
    assert "systemInstruction" not in used
    assert [content["role"] for content in used["contents"]] == ["user", "model"] * 2 + ["user"]
    assert used["contents"][0]["parts"] == [{"text": "\n\nOne?"}]
    before = len(server.requests)
    turn(folder, server, "Four?")
    assert len(server.requests) == before + 1
    assert server.bodies[-1]["cachedContent"] == name
    assert prune_caches(folder / "md_gen", KEY) == ()
    assert (server.methods[-1], server.caches) == ("DELETE", [])


def test_a_changed_beginning_makes_another(folder: Path, server: ChatServer) -> None:
    """The old one is deleted, since its storage is charged while nothing reads it."""
    for message in ("One?", "Two?", "Three?"):
        turn(folder, server, message)
    (old,) = server.caches
    for name in "ab":
        (folder / "src" / f"{name}.py").write_text(f"# new {name}\n{CODE[::-1]}", encoding="utf-8")
    turn(folder, server, "Four?")
    assert old not in server.caches
    assert len(server.caches) == 1
    assert [cache.name for cache in read_caches(folder / "md_gen").caches] == server.caches


def test_a_cache_that_is_gone_ends_nothing(folder: Path, server: ChatServer) -> None:
    """The request is made again with all of its text, the user is told, and the cache is forgotten."""
    for message in ("One?", "Two?", "Three?"):
        turn(folder, server, message)
    server.caches.clear()
    done = turn(folder, server, "Four?")
    assert done.reply.text == ANSWER
    assert done.warnings[0] == (
        "gemini has refused the request with the explicit cache: it was sent again without"
    )
    assert "cachedContent" not in server.bodies[-1]
    assert read_caches(folder / "md_gen").caches == ()


def test_a_cache_that_cannot_be_made_ends_nothing(folder: Path, server: ChatServer) -> None:
    """A refusal is a warning, and the send goes on."""
    server.refuses_caches = True
    for message in ("One?", "Two?"):
        turn(folder, server, message)
    done = turn(folder, server, "Three?")
    assert done.reply.text == ANSWER
    assert done.warnings[:1] == ("no explicit cache is bought: gemini answered 400: too small",)


def test_a_plan_tells_what_is_bought(folder: Path, server: ChatServer) -> None:
    """Planning buys nothing; other providers know no explicit caches."""
    for message in ("One?", "Two?"):
        turn(folder, server, message)
    loaded = open_project(folder / "manual_slop.toml")
    selection = ModelSelection("gemini", persona="brief", base_url=server.url)
    before = len(server.requests)
    made = prepare_turn(loaded, "Three?", selection, require_key=False)
    assert made.explicit_cache is not None
    assert made.explicit_cache.action is Action.CREATE
    assert len(server.requests) == before
    other = ModelSelection("anthropic", persona="brief")
    assert prepare_turn(loaded, "Three?", other, require_key=False).explicit_cache is None


def test_what_is_not_deleted_is_told(folder: Path, server: ChatServer) -> None:
    """Without a key there is a sentence with how long the cache still lives; a damaged record holds nothing."""
    for message in ("One?", "Two?", "Three?"):
        turn(folder, server, message)
    (warning,) = prune_caches(folder / "md_gen", {})
    assert warning.startswith(
        "the explicit cache cachedContents/3 is not deleted and ends in 15 minutes: gemini needs"
    )
    (record,) = (folder.parent / "state").rglob("gemini_caches.json")
    record.write_text('{"version": 1, "caches": [{}]}', encoding="utf-8")
    assert prune_caches(folder / "md_gen", {}) == ()
    assert read_caches(folder / "md_gen").caches == ()
