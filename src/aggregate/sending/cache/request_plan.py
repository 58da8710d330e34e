"""Blocks and breakpoints of a request, and a simulated cache.

A block begins with the separator, so that it keeps its bytes whatever follows. Each excerpt of the discussion is a
block and becomes a message (``messages_of``). Breakpoints of the shared prefix are kept, since a cache can only be read
there. A position is the number of segments before it, the system prompt included.

The simulation is strict where the providers' rules are vague: an entry is found only at the same block ends,
breakpoints before the longest hit write nothing, and an entry does not outlive a shorter-lived one that it extends.
Reading an entry or repeating its breakpoint renews it; the latter is not documented.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import accumulate, pairwise, takewhile
from typing import Final

from aggregate.prompt.document import SEPARATOR, Image, Section, Segment, Stability
from aggregate.prompt.sections.discussion_section import excerpt_turn
from aggregate.sending.cache.breakpoints import (
    FIRST_REQUEST,
    EarlierRequest,
    Outline,
    layout_with_breakpoints,
)
from aggregate.sending.cache.hashed_prompt import BlockLayout, HashedPrompt
from aggregate.sending.models import (
    NO_CACHE,
    SHORT_LIFETIME,
    CacheLookup,
    CachePolicy,
    LoopTurn,
    Usage,
)

# A tool loop has one at its end and one where the last request ended, in case the provider does not search so far back.
LOOP_BREAKPOINTS = 2


class BlockRole(StrEnum):
    SYSTEM = "system"
    DOCUMENT = "document"
    USER = "user"  # turn of the discussion
    ASSISTANT = "assistant"  # turn of the discussion
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """A part of a request, cached as a whole.

    Later requests repeat it.
    """

    role: BlockRole
    text: str  # with the separator in front
    tokens: int
    has_breakpoint: bool = False
    lifetime: int = SHORT_LIFETIME  # of the cache entry, in seconds after its last use
    words: str = ""  # of a turn, without heading, role and fence
    image: Image | None = None  # sent instead of a text
    turn: LoopTurn | None = None  # of a tool loop


@dataclass(frozen=True, slots=True)
class RequestPlan:
    blocks: tuple[RequestBlock, ...]  # system prompt, document, message
    layout: BlockLayout
    tokens: tuple[int, ...]  # cumulative, by segment
    message_tokens: int
    policy: CachePolicy

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
    """Divide prompt and message into blocks with cache breakpoints.

    Later requests repeat the prompt, but not the message. Breakpoints of the request ``before`` are kept in the shared
    part. ``turns`` of a tool loop follow the message, and two of the breakpoints move along with them.
    """
    if turns is not None:
        policy = replace(policy, max_breakpoints=max(policy.max_breakpoints - LOOP_BREAKPOINTS, 0))
    outline = _outline(prompt)
    tokens = tuple(outline.tokens)
    layout = layout_with_breakpoints(outline, policy, before)
    blocks = _blocks(prompt, layout, tokens, lifetime=policy.seconds)
    if message.strip():
        text = SEPARATOR + message if prompt.parts else message
        blocks.append(RequestBlock(BlockRole.MESSAGE, text, message_tokens))
    if turns is not None:
        blocks = _with_loop(blocks, turns, is_marked=policy.lookup is CacheLookup.BREAKPOINTS)
    return RequestPlan(tuple(blocks), layout, tokens, message_tokens, policy)


def _outline(prompt: HashedPrompt) -> Outline:
    tokens = tuple(accumulate(part.tokens for part in prompt.segments))
    body = sum(1 for _ in takewhile(lambda part: part.section != Section.HISTORY, prompt.segments))
    # Each excerpt of the discussion has its own block, so that blocks keep their bytes as it grows.
    ends = frozenset((1, *range(body, len(tokens) + 1), *_image_ends(prompt)))
    numbered = enumerate(prompt.segments)
    slow = (end for end, part in numbered if part.segment.stability is Stability.SLOW)
    markable = range(1, len(tokens) + 1)
    return Outline(prompt.digests, tokens, ends, body, markable, next(slow, 0))


def _image_ends(prompt: HashedPrompt) -> list[int]:
    return [end for end, part in enumerate(prompt.segments, start=1) if part.images]


def _blocks(
    prompt: HashedPrompt, layout: BlockLayout, tokens: Sequence[int], *, lifetime: int
) -> list[RequestBlock]:
    breakpoints = frozenset(layout.breakpoints)
    ends: Sequence[int] = layout.ends
    if not breakpoints:  # only turns and images need blocks of their own
        numbered = enumerate(prompt.segments)
        turns = [number for number, part in numbered if excerpt_turn(part.segment)]
        turn_ends = [number + 1 for number in turns]
        ends = sorted({*turns, *turn_ends, len(prompt.segments), *_image_ends(prompt)})
    blocks: list[RequestBlock] = []
    if prompt.system.strip():
        seconds, is_marked = layout.lifetime(1, lifetime), 1 in breakpoints
        blocks.append(RequestBlock(BlockRole.SYSTEM, prompt.system, tokens[0], is_marked, seconds))
    for start, end in pairwise((1, *(end for end in ends if end > 1))):
        parts = prompt.segments[start:end]
        segments = [part.segment for part in parts]
        text = SEPARATOR.join(segment.text for segment in segments)
        text = SEPARATOR + text if start > 1 else text
        role, words = role_and_words(segments)
        seconds, is_marked = layout.lifetime(end, lifetime), end in breakpoints
        images = parts[-1].images
        size = tokens[end - 1] - tokens[start - 1] - sum(images.values())
        blocks.append(
            RequestBlock(role, text, size, is_marked and not images, seconds, words=words)
        )
        # A breakpoint moves to the last image.
        for number, (image, size) in enumerate(images.items(), start=1):
            is_last = is_marked and number == len(images)
            blocks.append(RequestBlock(BlockRole.DOCUMENT, "", size, is_last, seconds, image=image))
    return blocks


def _with_loop(
    blocks: list[RequestBlock], turns: Sequence[LoopTurn], *, is_marked: bool
) -> list[RequestBlock]:
    """Append the turns of a tool loop as blocks.

    Breakpoints follow the last turn and the turn before it.
    """
    ends = [len(blocks) - 1]
    for turn in turns:
        text = SEPARATOR + turn.text
        blocks += [
            RequestBlock(BlockRole.ASSISTANT, text, 0, words=turn.text, turn=turn),
            RequestBlock(BlockRole.MESSAGE, SEPARATOR + turn.response, 0, turn=turn),
        ]
        ends.append(len(blocks) - 1)
    for end in ends[-LOOP_BREAKPOINTS:] if is_marked else ():
        blocks[end] = replace(blocks[end], has_breakpoint=True)
    return blocks


def role_and_words(segments: Sequence[Segment]) -> tuple[BlockRole, str]:
    turn = excerpt_turn(segments[0]) if len(segments) == 1 else None
    if turn is None:
        return BlockRole.DOCUMENT, ""
    return BlockRole.ASSISTANT if turn.is_assistant else BlockRole.USER, turn.words


@dataclass(frozen=True, slots=True)
class Message:
    is_assistant: bool
    parts: tuple[RequestBlock, ...]
    turn: LoopTurn | None = None  # with the message's calls or results

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def _sent_blocks(
    plan: RequestPlan, *, has_tools: bool
) -> list[tuple[RequestBlock, LoopTurn | None]]:
    """Return the blocks to send as messages.

    Each comes with its turn of a tool loop, ``None`` outside of a loop. Blank blocks are left out, because providers
    refuse them.
    """
    blocks: list[tuple[RequestBlock, LoopTurn | None]] = []
    for block in plan.blocks:
        is_turn = block.role in (BlockRole.USER, BlockRole.ASSISTANT)
        text = block.words if is_turn else block.text
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
    """Return the messages of a planned request.

    The last message is the user's. A turn is sent without its heading, since the message has a role. The model's turns
    at the end keep their headings and are sent as the user's: a provider would continue or refuse an answer that ends a
    request. With tools, calls and results of a loop are separate messages.
    """
    sent = _sent_blocks(plan, has_tools=has_tools)
    others = (n for n, (block, _) in enumerate(sent) if block.role is not BlockRole.ASSISTANT)
    last = max(others, default=-1)
    messages: list[Message] = []
    for number, (block, turn) in enumerate(sent):
        is_assistant = block.role is BlockRole.ASSISTANT and number < last
        is_plain = is_assistant or block.role is BlockRole.USER
        text = block.words if is_plain else block.text.removeprefix(SEPARATOR)
        parts: tuple[RequestBlock, ...] = ()
        if messages and (messages[-1].is_assistant, messages[-1].turn) == (is_assistant, turn):
            parts, text = messages.pop().parts, SEPARATOR + text
        part = replace(block, text="" if block.image else text)
        messages.append(Message(is_assistant, (*parts, part), turn))
    return tuple(messages)


@dataclass(frozen=True, slots=True)
class SimulatedCache:
    """The expected entries of a provider's cache.

    Each hash of a prefix has its time of last use and its lifetime.
    """

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

    def alive(self, at: float, default: int) -> frozenset[str]:
        entries = self.entries.items()
        return frozenset(
            prefix for prefix, (used, lifetime) in entries if at - used <= (lifetime or default)
        )


def charge(
    plan: RequestPlan, cache: SimulatedCache, *, at: float = 0.0
) -> tuple[Usage, SimulatedCache]:
    """Simulate a request: return its usage and the cache afterwards.

    The usage counts tokens read from the cache and written to it.
    """
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
        renewed = cache.used((prefix for _, prefix in prefixes), at=at, lifetimes={})
        return Usage(plan.total - read, 0, read), renewed
    breakpoints = plan.layout.breakpoints
    # A breakpoint finds entries among the blocks before it.
    block_numbers = {end: number for number, end in enumerate(plan.layout.ends)}
    search_starts = [block_numbers[end] for end in breakpoints]
    longest = 0
    for end, prefix in prefixes:
        distances = (start - block_numbers[end] for start in search_starts)
        if prefix in alive and any(0 <= distance < policy.look_back for distance in distances):
            longest = end
    read = plan.tokens[longest - 1] if longest else 0
    write = max(plan.tokens[breakpoints[-1] - 1] - read, 0) if breakpoints else 0
    by_end = dict(prefixes)
    marked = [end for end in breakpoints if end in by_end]
    renewed_ends = [end for end in marked if end < longest and by_end[end] in alive]
    written = [end for end in marked if end > longest]
    seconds = {end: plan.layout.lifetime(end, policy.seconds) for end in written}
    long_ends = [plan.tokens[end - 1] for end in written if seconds[end] > policy.seconds]
    if longest:
        limit = cache.lifetime(by_end[longest]) or policy.seconds
        seconds = {end: min(lifetime, limit) for end, lifetime in seconds.items()}
    used = [by_end[end] for end in (*renewed_ends, *([longest] if longest else ()), *written)]
    lifetimes = {by_end[end]: lifetime for end, lifetime in seconds.items()}
    long = max(max(long_ends, default=0) - read, 0)
    usage = Usage(plan.total - read - write, write, read, cache_write_long=long)
    return usage, cache.used(used, at=at, lifetimes=lifetimes)


def block_prefixes(layout: BlockLayout) -> Iterator[tuple[int, str]]:
    """Yield each block's end with a hash of the prefix."""
    running = hashlib.blake2b(digest_size=12)
    for start, end in pairwise((0, *layout.ends)):
        running.update("\n".join((*layout.digests[start:end], "\n")).encode())
        yield end, running.copy().hexdigest()
