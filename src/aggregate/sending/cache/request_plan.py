"""The cache plan: from segments to a request's blocks with breakpoints, without moving a byte.

The blocks' texts are the prompt's markdown, and the message behind it. A block begins with the separator, so that it
keeps its bytes whatever follows. An excerpt of the discussion is a block of its own, which also has the plain words and
whose they are: ``clients.messages`` makes messages of them.

Breakpoints that an earlier request set, and that still stand behind the same bytes, are kept, because only there can a
cache be read; new ones have fixed places (see ``breakpoints``).

Segments are counted as in the prompt's fingerprint, where the system prompt is the first one. A number of segments
names the place behind them: a block that ends at 3 ends behind the system prompt and two segments of the prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise

from aggregate.base.values import SEPARATOR, Image, Segment
from aggregate.prompt.sections import excerpt_turn
from aggregate.sending.cache.breakpoints import (
    BlockLayout,
    EarlierRequest,
    image_ends,
    layout_with_breakpoints,
)
from aggregate.sending.cache.hashed_prompt import HashedPrompt, HashedSegment
from aggregate.sending.cache.lifetimes import (
    CacheLifetime,
    Pauses,
)
from aggregate.sending.cache.policy import SHORT_LIFETIME, CacheLookup, CachePolicy

NO_PAUSES = Pauses()


class BlockRole(StrEnum):
    """Which part of a request a block belongs to."""

    SYSTEM = "system"
    DOCUMENT = "document"
    USER = "user"
    """A turn of the discussion that the user has said."""
    ASSISTANT = "assistant"
    """A turn of the discussion that the model has said."""
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """A piece of a request that stays one piece in later requests.

    Attributes:
        role: The part of the request.
        text: Its text in the prompt, with the separator in front.
        tokens: Its o200k tokens.
        has_breakpoint: Whether a breakpoint stands behind it.
        lifetime: How many seconds after its last use the entry lives that ends at its breakpoint.
        words: Of a turn: what was said, without heading, role and fence.
        image: What is sent instead of a text, which is empty then.
    """

    role: BlockRole
    text: str
    tokens: int
    has_breakpoint: bool = False
    lifetime: int = SHORT_LIFETIME
    words: str = ""
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """A request as it will be sent.

    Attributes:
        blocks: In order: the system prompt if there is one, the document's blocks, the message if there is one.
        layout: The same as numbers, for the plan of the next request.
        tokens: o200k tokens up to and with each segment.
        message_tokens: o200k tokens of the message.
        policy: The cache that it was made for.
    """

    blocks: tuple[RequestBlock, ...]
    layout: BlockLayout
    tokens: tuple[int, ...]
    message_tokens: int
    policy: CachePolicy

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(block.text for block in self.blocks if block.role is BlockRole.SYSTEM)

    @property
    def text(self) -> str:
        """Everything behind the system prompt."""
        return "".join(block.text for block in self.blocks if block.role is not BlockRole.SYSTEM)

    @property
    def has_images(self) -> bool:
        """Whether an image is sent."""
        return any(block.image for block in self.blocks)

    @property
    def without_images(self) -> "RequestPlan":
        """The same request with its texts alone; the links to the images are among these."""
        return replace(self, blocks=tuple(block for block in self.blocks if not block.image))

    @property
    def total(self) -> int:
        """All input tokens, by o200k."""
        return self.tokens[-1] + self.message_tokens


def plan_request(
    prompt: HashedPrompt,
    policy: CachePolicy,
    *,
    message: str = "",
    message_tokens: int = 0,
    earlier: BlockLayout | None = None,
    replaced: int = 0,
    age: float = 0.0,
    lifetime: CacheLifetime = CacheLifetime.SHORT,
    pauses: Pauses = NO_PAUSES,
    writes: bool = True,
) -> RequestPlan:
    """Plan the request that sends ``prompt`` and then ``message``.

    Args:
        prompt: The instructions and the segments.
        policy: The provider's cache.
        message: What is said behind the prompt and will not be there next time; no breakpoint stands behind it.
        message_tokens: Its tokens.
        earlier: The layout of the last request, whose breakpoints are kept as far as the bytes are the same.
        replaced: How many segments, the system prompt included, stand before what the next request replaces for
            certain, so that no breakpoint stands behind it; ``0`` where nothing is.
        age: Seconds since the last request.
        lifetime: How long its new entries are to live.
        pauses: Those between the last turns, by which lifetimes are chosen where that is automatic.
        writes: Off for a request that none follows: it reads what is there, and writes nothing that nobody would read.
    """
    fingerprint = prompt.fingerprint
    tokens = tuple(accumulate(segment.tokens for segment in fingerprint.segments))
    if policy.lookup is CacheLookup.BREAKPOINTS:
        layout = layout_with_breakpoints(
            prompt,
            fingerprint.digests,
            tokens,
            policy,
            EarlierRequest(earlier, age, lifetime, pauses, writes, replaced),
        )
    else:
        layout = BlockLayout(fingerprint.digests, tuple(range(1, len(tokens) + 1)), ())
    blocks = _blocks(prompt, layout, tokens, usual=policy.seconds)
    if message:
        text = SEPARATOR + message if prompt.segments else message
        blocks.append(RequestBlock(BlockRole.MESSAGE, text, message_tokens))
    return RequestPlan(tuple(blocks), layout, tokens, message_tokens, policy)


def _blocks(
    prompt: HashedPrompt, layout: BlockLayout, tokens: Sequence[int], *, usual: int
) -> list[RequestBlock]:
    """Return the blocks of the system prompt and of the document; without breakpoints the document is one block."""
    breakpoints = frozenset(layout.breakpoints)
    ends = layout.ends if breakpoints else _turn_ends(prompt)
    blocks: list[RequestBlock] = []
    if prompt.system:
        lifetime = layout.lifetime(1, usual)
        blocks.append(
            RequestBlock(BlockRole.SYSTEM, prompt.system, tokens[0], 1 in breakpoints, lifetime)
        )
    for start, end in pairwise((1, *(end for end in ends if end > 1))):
        segments = [part.segment for part in prompt.segments[start - 1 : end - 1]]
        text = SEPARATOR.join(segment.text for segment in segments)
        if start > 1:
            text = SEPARATOR + text
        lifetime = layout.lifetime(end, usual)
        images = _image_blocks(
            prompt.segments[end - 2], has_breakpoint=end in breakpoints, lifetime=lifetime
        )
        size = tokens[end - 1] - tokens[start - 1] - sum(block.tokens for block in images)
        role, words = role_and_words(segments)
        has_breakpoint = end in breakpoints and not images
        blocks += [RequestBlock(role, text, size, has_breakpoint, lifetime, words=words), *images]
    return blocks


def _turn_ends(prompt: HashedPrompt) -> tuple[int, ...]:
    """Return where blocks end that are as long as can be: before and behind each turn, and at the end."""
    places = range(1, len(prompt.segments) + 1)
    turns = [place for place in places if excerpt_turn(prompt.segments[place - 1].segment)]
    ends = {*turns, *(place + 1 for place in turns), len(prompt.segments) + 1}
    ends.update(image_ends(prompt))
    return tuple(sorted(ends - {1}))


def _image_blocks(
    part: HashedSegment, *, has_breakpoint: bool, lifetime: int
) -> list[RequestBlock]:
    """Return the images behind a segment, the last one with the breakpoint if there is one."""
    last = len(part.images) - 1
    return [
        RequestBlock(
            BlockRole.DOCUMENT, "", tokens, has_breakpoint and place == last, lifetime, image=image
        )
        for place, (image, tokens) in enumerate(zip(part.images, part.image_tokens, strict=True))
    ]


def role_and_words(segments: Sequence[Segment]) -> tuple[BlockRole, str]:
    """Return who says a block's segments; several together are part of the document."""
    turn = excerpt_turn(segments[0]) if len(segments) == 1 else None
    if turn is None:
        return BlockRole.DOCUMENT, ""
    return BlockRole.ASSISTANT if turn.is_assistant else BlockRole.USER, turn.words
