"""The cache plan: from segments to a request's blocks with breakpoints, and what the provider's cache does with them.

A block begins with the separator, so that it keeps its bytes whatever follows. An excerpt of the discussion is a block
of its own, of which ``messages_of`` makes a message. Breakpoints that still stand behind the same bytes are kept,
because only there can a cache be read. A number of segments, the system prompt included, names the place behind them.

What a cache would read and write is on the strict side where the rules leave room: an entry is found only behind blocks
that are cut as they were when it was written, breakpoints before the longest prefix that is read write nothing, and an
entry that is built on a shorter-lived one lives no longer than that. An entry is renewed when it is read, and where a
breakpoint is set on it again; providers do not say whether the latter is so.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby, pairwise
from typing import Final

from aggregate.prompt.document import SEPARATOR, Image, Segment
from aggregate.prompt.turns import excerpt_turn
from aggregate.sending.cache.breakpoints import (
    FIRST_REQUEST,
    EarlierRequest,
    Outline,
    image_ends,
    layout_with_breakpoints,
)
from aggregate.sending.cache.fingerprint import BlockLayout, HashedPrompt
from aggregate.sending.models import (
    NO_CACHE,
    SHORT_LIFETIME,
    CacheLookup,
    CachePolicy,
    LoopTurn,
    Usage,
)

# Of a loop: where it ends, and where the request before ended, from which a provider may not look back so far.
LOOP_BREAKPOINTS = 2


class BlockRole(StrEnum):
    SYSTEM = "system"
    DOCUMENT = "document"
    USER = "user"  # a turn of the discussion that the user has said
    ASSISTANT = "assistant"  # a turn of the discussion that the model has said
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """A piece of a request that stays one piece in later requests."""

    role: BlockRole
    text: str  # as it stands in the prompt, with the separator in front
    tokens: int
    has_breakpoint: bool = False
    # seconds after its last use that the entry at its breakpoint lives
    lifetime: int = SHORT_LIFETIME
    words: str = ""  # of a turn: what was said, without heading, role and fence
    image: Image | None = None  # what is sent instead of a text, which is empty then
    turn: LoopTurn | None = None  # of a loop with tools: what was said, or what was told then


@dataclass(frozen=True, slots=True)
class RequestPlan:
    # The system prompt, the document's blocks, the message, as far as there are any
    blocks: tuple[RequestBlock, ...]
    layout: BlockLayout  # the same as numbers, for the plan of the next request
    tokens: tuple[int, ...]  # up to and with each segment
    message_tokens: int
    policy: CachePolicy

    def warmth(self, age: float) -> str:
        """How long a cache still holds all of a request that was sent ``age`` seconds ago, or a part of it."""
        if self.policy.lookup is CacheLookup.NONE:
            return ""
        lives = set(self.layout.lifetimes or (self.policy.seconds,))
        left = [each - age for each in lives if each > age]
        minutes, seconds = divmod(int(min(left, default=0)), 60)
        part = "partly " if len(left) < len(lives) else ""
        return f"cache {part}warm for {minutes}:{seconds:02}" if left else "cache cold"

    @property
    def system(self) -> str:
        return "".join(block.text for block in self.blocks if block.role is BlockRole.SYSTEM)

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if block.role is not BlockRole.SYSTEM)

    @property
    def has_images(self) -> bool:
        return any(block.image for block in self.blocks)

    @property
    def total(self) -> int:
        return self.tokens[-1] + self.message_tokens


UNPLANNED: Final = RequestPlan((), BlockLayout((), (), ()), (), 0, NO_CACHE)


def plan_request(
    prompt: HashedPrompt,
    policy: CachePolicy,
    *,
    message: str = "",
    message_tokens: int = 0,
    before: EarlierRequest = FIRST_REQUEST,
    turns: Sequence[LoopTurn] | None = None,
) -> RequestPlan:
    """Plan the request that sends ``prompt`` and then ``message``, which will not be there next time.

    Breakpoints of the request ``before`` are kept as far as the bytes are the same. Of a loop with tools, whose
    ``turns`` stand behind the message, the next request repeats everything: two of the breakpoints follow it.
    """
    if turns is not None:
        policy = replace(policy, max_breakpoints=max(policy.max_breakpoints - LOOP_BREAKPOINTS, 0))
    outline = Outline.of(prompt)
    tokens = tuple(outline.tokens)
    layout = layout_with_breakpoints(outline, policy, before)
    blocks = _blocks(prompt, layout, tokens, usual=policy.seconds)
    if message.strip():
        text = SEPARATOR + message if prompt.segments else message
        blocks.append(RequestBlock(BlockRole.MESSAGE, text, message_tokens))
    if turns is not None:
        blocks = _with_loop(blocks, turns, is_marked=policy.lookup is CacheLookup.BREAKPOINTS)
    return RequestPlan(tuple(blocks), layout, tokens, message_tokens, policy)


def _blocks(
    prompt: HashedPrompt, layout: BlockLayout, tokens: Sequence[int], *, usual: int
) -> list[RequestBlock]:
    breakpoints = frozenset(layout.breakpoints)
    ends: Sequence[int] = layout.ends
    if not breakpoints:  # blocks are as long as can be, but for turns and images
        numbered = enumerate(prompt.segments, start=1)
        turns = [place for place, part in numbered if excerpt_turn(part.segment)]
        behind = [place + 1 for place in turns]
        ends = sorted({*turns, *behind, len(prompt.segments) + 1, *image_ends(prompt)})
    blocks: list[RequestBlock] = []
    if prompt.system.strip():
        lifetime = layout.lifetime(1, usual)
        blocks.append(
            RequestBlock(BlockRole.SYSTEM, prompt.system, tokens[0], 1 in breakpoints, lifetime)
        )
    for start, end in pairwise((1, *(end for end in ends if end > 1))):
        parts = prompt.segments[start - 1 : end - 1]
        segments = [part.segment for part in parts]
        text = SEPARATOR.join(segment.text for segment in segments)
        text = SEPARATOR + text if start > 1 else text
        role, words = role_and_words(segments)
        lifetime, is_marked = layout.lifetime(end, usual), end in breakpoints
        images = parts[-1].images
        size = tokens[end - 1] - tokens[start - 1] - sum(parts[-1].image_tokens)
        ends_here = is_marked and not images
        blocks.append(RequestBlock(role, text, size, ends_here, lifetime, words=words))
        # The images behind a segment, the last one with the breakpoint if there is one.
        for image, size in zip(images, parts[-1].image_tokens, strict=True):
            ends_here = is_marked and image is images[-1]
            blocks.append(
                RequestBlock(BlockRole.DOCUMENT, "", size, ends_here, lifetime, image=image)
            )
    return blocks


def _with_loop(
    blocks: list[RequestBlock], turns: Sequence[LoopTurn], *, is_marked: bool
) -> list[RequestBlock]:
    """Return the blocks with a loop's behind them, and with marks at its end and where the last request ended."""
    ends = [len(blocks) - 1]
    for turn in turns:
        said = RequestBlock(
            BlockRole.ASSISTANT, SEPARATOR + turn.text, 0, words=turn.text, turn=turn
        )
        blocks += [said, RequestBlock(BlockRole.MESSAGE, SEPARATOR + turn.told, 0, turn=turn)]
        ends.append(len(blocks) - 1)
    for place in ends[-LOOP_BREAKPOINTS:] if is_marked else ():
        blocks[place] = replace(blocks[place], has_breakpoint=True)
    return blocks


def role_and_words(segments: Sequence[Segment]) -> tuple[BlockRole, str]:
    turn = excerpt_turn(segments[0]) if len(segments) == 1 else None
    if turn is None:
        return BlockRole.DOCUMENT, ""
    return BlockRole.ASSISTANT if turn.is_assistant else BlockRole.USER, turn.words


@dataclass(frozen=True, slots=True)
class Message:
    is_assistant: bool
    parts: tuple[RequestBlock, ...]  # with their texts as they are sent
    turn: LoopTurn | None = None  # whose calls or results the message holds

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def _sent_blocks(
    plan: RequestPlan, *, has_tools: bool
) -> list[tuple[RequestBlock, LoopTurn | None]]:
    """Return the blocks behind the instructions, each with the turn whose calls it holds.

    Blank blocks are dropped: providers refuse them. Their breakpoints move to the block before.
    """
    blocks: list[tuple[RequestBlock, LoopTurn | None]] = []
    for block in plan.blocks:
        is_said = block.role in (BlockRole.USER, BlockRole.ASSISTANT)
        text = block.words if is_said else block.text
        turn = block.turn if has_tools and block.turn and block.turn.results else None
        if block.role is BlockRole.SYSTEM:
            continue
        if text.strip() or block.image or turn:
            blocks.append((block, turn))
        elif block.has_breakpoint and blocks:
            last, turn = blocks[-1]
            blocks[-1] = replace(last, has_breakpoint=True, lifetime=block.lifetime), turn
    return blocks


def messages_of(plan: RequestPlan, *, has_tools: bool = False) -> tuple[Message, ...]:
    """Return a plan's messages; the last one is the user's.

    A turn is sent without its heading, since the message itself says who speaks. Turns of the model at the end keep
    heading and role: an answer that ends a request would be continued, or refused. With tools, calls and results of a
    loop are messages of their own.
    """
    sent = _sent_blocks(plan, has_tools=has_tools)
    blocks = [block for block, _ in sent]
    is_said = [block.role is BlockRole.ASSISTANT for block in blocks]
    while is_said and is_said[-1]:
        is_said.pop()
    is_said += [False] * (len(blocks) - len(is_said))
    messages = []
    for (is_assistant, turn), group in groupby(
        zip(is_said, sent, strict=True), key=lambda pair: (pair[0], pair[1][1])
    ):
        parts: list[RequestBlock] = []
        for _, (block, _) in group:
            is_plain = is_assistant or block.role is BlockRole.USER
            text = block.words if is_plain else block.text.removeprefix(SEPARATOR)
            text = "" if block.image else SEPARATOR + text if parts else text
            parts.append(replace(block, text=text))
        messages.append(Message(is_assistant, tuple(parts), turn))
    return tuple(messages)


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    """When entries, by a hash of their prefix, were last used, and the seconds that they live if that is not usual."""

    entries: Mapping[str, tuple[float, int | None]] = field(default_factory=dict)

    @classmethod
    def after(cls, layout: BlockLayout, *, age: float = 0.0) -> "SimulatedCache":
        ends = frozenset(layout.breakpoints or layout.ends)
        seconds = dict(zip(layout.breakpoints, layout.lifetimes, strict=False))
        prefixes = block_prefixes(layout)
        return cls({prefix: (-age, seconds.get(end)) for end, prefix in prefixes if end in ends})

    def lifetime(self, prefix: str) -> int | None:
        return self.entries.get(prefix, (0.0, None))[1]

    def used(
        self, prefixes: Iterable[str], *, at: float, lifetimes: Mapping[str, int]
    ) -> "SimulatedCache":
        now = {prefix: (at, lifetimes.get(prefix) or self.lifetime(prefix)) for prefix in prefixes}
        return SimulatedCache({**self.entries, **now})

    def alive(self, at: float, usual: int) -> frozenset[str]:
        entries = self.entries.items()
        return frozenset(
            prefix for prefix, (used, lives) in entries if at - used <= (lives or usual)
        )


def charge(
    plan: RequestPlan, cache: SimulatedCache, *, at: float = 0.0
) -> tuple[Usage, SimulatedCache]:
    """Return the input tokens of a request at a time in seconds, and the cache behind it; output is left at zero."""
    policy = plan.policy
    if policy.lookup is CacheLookup.NONE:
        return Usage(fresh=plan.total), cache
    alive = cache.alive(at, policy.seconds)
    prefixes = [
        (end, prefix)
        for end, prefix in block_prefixes(plan.layout)
        if plan.tokens[end - 1] >= policy.minimum
    ]
    if policy.lookup is CacheLookup.PREFIX:
        longest = max((end for end, prefix in prefixes if prefix in alive), default=0)
        read = plan.tokens[longest - 1] // policy.step * policy.step if longest else 0
        behind = cache.used((prefix for _, prefix in prefixes), at=at, lifetimes={})
        return Usage(plan.total - read, 0, read), behind
    breakpoints = plan.layout.breakpoints
    # The longest entry that a breakpoint finds among the blocks before it.
    block_numbers = {end: number for number, end in enumerate(plan.layout.ends)}
    searched_from = [block_numbers[place] for place in breakpoints]
    longest = 0
    for end, prefix in prefixes:
        distances = (start - block_numbers[end] for start in searched_from)
        if prefix in alive and any(0 <= far < policy.look_back for far in distances):
            longest = end
    read = plan.tokens[longest - 1] if longest else 0
    write = max(plan.tokens[breakpoints[-1] - 1] - read, 0) if breakpoints else 0
    by_end = dict(prefixes)
    marked = [end for end in breakpoints if end in by_end]
    kept = [end for end in marked if end < longest and by_end[end] in alive]
    written = [end for end in marked if end > longest]
    seconds = {end: plan.layout.lifetime(end, policy.seconds) for end in written}
    long_ends = [plan.tokens[end - 1] for end in written if seconds[end] > policy.seconds]
    if longest:
        most = cache.lifetime(by_end[longest]) or policy.seconds
        seconds = {end: min(lives, most) for end, lives in seconds.items()}
    used = [by_end[end] for end in (*kept, *([longest] if longest else ()), *written)]
    lifetimes = {by_end[end]: lives for end, lives in seconds.items()}
    long = max(max(long_ends, default=0) - read, 0)
    usage = Usage(plan.total - read - write, write, read, cache_write_long=long)
    return usage, cache.used(used, at=at, lifetimes=lifetimes)


def block_prefixes(layout: BlockLayout) -> Iterator[tuple[int, str]]:
    """Yield where each block ends, with a hash of everything up to there, the cuts between blocks included."""
    running = hashlib.blake2b(digest_size=12)
    for start, end in pairwise((0, *layout.ends)):
        running.update("\n".join((*layout.digests[start:end], "\n")).encode())
        yield end, running.copy().hexdigest()
