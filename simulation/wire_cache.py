"""What a cache reads and writes by the bytes of the requests alone, beside what was planned, turn by turn.

A discussion is held through the real client against a server on this machine that keeps a cache by Anthropic's rules
and knows nothing of plans: it hashes what stands before each ``cache_control`` in the JSON.
"""

import hashlib
import json
import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from tests.fakes import http_server
from tests.fakes.senders import typed

from aggregate import Usage, compose_prompt, count, open_project
from aggregate.prompt import count_prompt
from aggregate.sending import Exchange, ModelSelection, prepare_turn, send_turn
from aggregate.sending.known_models import known_model
from simulation.discussion import Discussion, answers, let_time_pass, price_of_input, replays
from simulation.replay import Replay

MODEL = "claude-sonnet-5"
MINIMUM, LOOK_BACK = 1024, 20
"""The shortest prefix that the model's cache takes, in tokens; how many blocks are searched, the marked one first."""
LIFETIMES = {"5m": 300.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True)
class Entry:
    """A cached prefix: when it was last used, and how many seconds it lives then."""

    used: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Accounted:
    """What a request has read and written, as numbers of its blocks from the beginning; ``long``: for an hour."""

    read: int
    long: int
    written: int
    blocks: int

    def usage(self, sizes: Sequence[int]) -> Usage:
        """Return the tokens of it, for the tokens of each block."""
        sums = (0, *accumulate(sizes))
        return Usage(
            fresh=sums[self.blocks] - sums[max(self.written, self.read)],
            cache_write=sums[max(self.written, self.read)] - sums[self.read],
            cache_read=sums[self.read],
            cache_write_long=sums[max(self.long, self.read)] - sums[self.read],
        )


@dataclass(slots=True)
class WireCache:
    """A cache that sees JSON and nothing else."""

    now: float = 0.0
    misses: float = 0.0
    """How large a part of all requests finds nothing that is there, evenly spread."""
    keeps_hours: bool = True
    """Whether an entry lives for an hour that is to, or for five minutes like others."""
    seed: int = 1
    entries: dict[str, Entry] = field(default_factory=dict)
    accounts: list[Accounted] = field(default_factory=list)

    def account(self, body: Mapping[str, Any]) -> Usage:
        """Return what a request reads and writes, and keep it."""
        blocks = list(_blocks(body))
        sizes = [size_of(block) for _, block in blocks]
        prefixes = list(_prefixes(blocks))
        long_enough = [total >= MINIMUM for total in accumulate(sizes)]
        marks = [number for number, (_, block) in enumerate(blocks) if "cache_control" in block]
        if [*marks[4:]]:
            raise ValueError("more than four breakpoints")
        for mark in marks:
            block = blocks[mark][1]
            if block.get("type") in ("thinking", "redacted_thinking") or block.get("text") == "":
                raise ValueError("a breakpoint stands where none may")
        ttls = [str(blocks[mark][1]["cache_control"].get("ttl", "5m")) for mark in marks]
        if ttls != sorted(ttls):  # "1h" before "5m"
            raise ValueError("a longer lifetime stands behind a shorter one")
        alive = [self._is_alive(prefix) for prefix in prefixes]
        searched = {mark - back for mark in marks for back in range(LOOK_BACK) if mark - back >= 0}
        hits = [number for number in searched if alive[number] and long_enough[number]]
        if self._is_missed(len(self.accounts)):
            hits = []
        read = max(hits, default=-1)
        most = self.entries[prefixes[read]].seconds if hits else max(LIFETIMES.values())
        long = written = 0
        for mark, ttl in zip(marks, ttls, strict=True):
            if not long_enough[mark]:
                continue
            if mark > read:
                seconds = min(LIFETIMES[ttl if self.keeps_hours else "5m"], most)
                self.entries[prefixes[mark]] = Entry(self.now, seconds)
                written = mark + 1
                long = mark + 1 if ttl == "1h" else long
            elif alive[mark]:
                self._use(prefixes[mark])
        if hits:
            self._use(prefixes[read])
        self.accounts.append(Accounted(read + 1, long, written, len(blocks)))
        return self.accounts[-1].usage(sizes)

    def _is_missed(self, request: int) -> bool:
        # By chance alone 50 requests with 5 % misses may have one or five.
        begin = Random(self.seed).random()
        return int(begin + (request + 1) * self.misses) > int(begin + request * self.misses)

    def _is_alive(self, prefix: str) -> bool:
        entry = self.entries.get(prefix)
        return entry is not None and self.now - entry.used <= entry.seconds

    def _use(self, prefix: str) -> None:
        self.entries[prefix] = replace(self.entries[prefix], used=self.now)


def size_of(block: Mapping[str, Any]) -> int:
    """Return the tokens of a block: of its text, or of all that a call or a result holds."""
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    return count(str(bare["text"]) if bare.get("type") == "text" else json.dumps(bare))


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the blocks of a request with the place of their message, in the order in which they count."""
    for tool in body.get("tools", ()):
        yield "tools", tool
    for block in _parts(body.get("system", ())):
        yield "system", block
    for number, message in enumerate(body["messages"]):
        for block in _parts(message["content"]):
            yield f"{number} {message['role']}", block


def _parts(content: str | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _prefixes(blocks: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """Yield a hash of everything up to each block, breakpoints left out."""
    running = hashlib.sha256()
    for place, block in blocks:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        running.update(json.dumps([place, bare], sort_keys=True).encode())
        yield running.copy().hexdigest()


@contextmanager
def serving(cache: WireCache, script: Iterator[str]) -> Iterator[str]:
    """Serve the Messages API on this machine, and yield its address."""

    class Server(http_server.QuietHandler):
        protocol_version = "HTTP/1.1"

        def take(self) -> None:
            """Answer by the script, with the usage that the cache accounts."""
            message = _message(cache.account(json.loads(self.body())), next(script))
            self.answer(200, "".join(_events(message)).encode(), content_type="text/event-stream")

    with http_server.serving(Server) as port:
        yield f"http://127.0.0.1:{port}"


def _events(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield an answer as it is streamed, in one piece."""
    text = message["content"][0]["text"]
    begun = {**message, "content": [], "stop_reason": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield typed({"type": "message_start", "message": begun})
    yield typed(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    )
    yield typed(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    )
    yield typed({"type": "content_block_stop", "index": 0})
    yield typed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage})
    yield typed({"type": "message_stop"})


def _message(usage: Usage, answer: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": answer}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": usage.fresh,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_long,
                "ephemeral_1h_input_tokens": usage.cache_write_long,
            },
            "output_tokens": count(answer),
        },
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """One turn: what was planned, and what the server has accounted, in the plan's tokens."""

    expected: Usage
    accounted: Usage
    plain: int
    """Tokens of the prompt as ``run`` writes it."""


def compare(
    replay: Replay, folder: Path, discussion: Discussion, server: WireCache | None = None
) -> Iterator[Compared]:
    """Hold a discussion through the real client, and yield each turn's expectation and account."""
    changing, said = discussion.changes(replay.commits), discussion.said(replay.commits)
    config, cache = replay.configure(folder), server or WireCache()
    with serving(cache, answers(said, discussion.words)) as address:
        selection = ModelSelection(provider="anthropic", model=MODEL, base_url=address)
        for turn, commit in enumerate(said):
            if turn:
                let_time_pass(folder, discussion.pauses[turn - 1])
                cache.now += discussion.pauses[turn - 1]
            if turn in changing:
                replay.check_out(commit.name)
            project = open_project(config)
            message = f"Please do this: {commit.subject}"
            environ = {"ANTHROPIC_API_KEY": "none"}
            prepared = prepare_turn(project, message, selection, environ=environ)
            send_turn(prepared)
            plain = count_prompt(compose_prompt(prepared.request).prompt).document
            yield Compared(prepared.expected, _accounted(prepared, cache), plain)


def _accounted(prepared: Exchange, cache: WireCache) -> Usage:
    account = cache.accounts[-1]
    sizes = [block.tokens for block in prepared.plan.blocks]
    if len(sizes) != account.blocks:
        raise AssertionError(f"{len(sizes)} blocks were planned, {account.blocks} arrived")
    return account.usage(sizes)


def main(parser: ArgumentParser) -> None:
    """Print each turn that differs, and how many are equal."""
    for _, replay, folder, discussion in replays(parser):
        os.environ["AGGREGATE_CACHE_DIR"] = str(folder / "cache")
        turns = list(compare(replay, folder, discussion))
        for number, turn in enumerate(turns, start=1):
            if turn.expected != turn.accounted:
                print(f"turn {number}: planned {turn.expected}, accounted {turn.accounted}")
        total = sum((turn.accounted for turn in turns), Usage())
        equal = sum(turn.expected == turn.accounted for turn in turns)
        share = price_of_input(total, known_model("anthropic", MODEL).cache) / total.input
        print(
            f"{equal} of {len(turns)} turns as planned; {100 * total.cache_share:.1f} % read by the bytes, at"
            f" {share:.3f} of the price without a cache"
        )
