"""The cache plan: from segments to a request's blocks with breakpoints, without moving a byte.

The request's text is the prompt's markdown, and the message behind it. A block begins with the separator, so that it
keeps its bytes whatever follows. Breakpoints that an earlier request set, and that still stand behind the same bytes,
are kept, because only there can a cache be read; new ones go where the next change is likely to cost least (``marks``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from aggregate.models.prompt import SEPARATOR, Prompt, Section
from aggregate.prompt_cache.breakpoints import choose_breakpoints, default_change_weights
from aggregate.prompt_cache.fingerprint import PromptFingerprint
from aggregate.prompt_cache.policy import CacheLookup, CachePolicy
from aggregate.text.lines import common_prefix


class BlockRole(StrEnum):
    """Which part of a request a block belongs to."""

    SYSTEM = "system"
    DOCUMENT = "document"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """A piece of a request that stays one piece in later requests.

    Attributes:
        role: The part of the request.
        text: Its text, with the separator in front.
        tokens: Its o200k tokens.
        marked: Whether a breakpoint stands behind it.
    """

    role: BlockRole
    text: str
    tokens: int
    marked: bool = False


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """Where a request's blocks end, as numbers of links of the prompt's chain (the system prompt is the first link).

    Attributes:
        digests: The hashes of the links.
        ends: Where blocks end, in order; behind every link where the cache finds any prefix.
        marks: Behind which links breakpoints stand, in order; a subset of ``ends``.
    """

    digests: tuple[str, ...]
    ends: tuple[int, ...]
    marks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """A request as it will be sent.

    Attributes:
        blocks: In order: the system prompt if there is one, the document's blocks, the message if there is one.
        layout: The same as numbers, for the plan of the next request.
        tokens: o200k tokens up to and with each link of the chain.
        message_tokens: o200k tokens of the message.
        rules: The rules it was made by.
    """

    blocks: tuple[RequestBlock, ...]
    layout: BlockLayout
    tokens: tuple[int, ...]
    message_tokens: int
    rules: CachePolicy

    @property
    def system(self) -> str:
        """The system prompt."""
        return "".join(block.text for block in self.blocks if block.role is BlockRole.SYSTEM)

    @property
    def text(self) -> str:
        """Everything behind the system prompt."""
        return "".join(block.text for block in self.blocks if block.role is not BlockRole.SYSTEM)

    @property
    def total(self) -> int:
        """All input tokens, by o200k."""
        return self.tokens[-1] + self.message_tokens


def plan_request(
    prompt: Prompt,
    chain: PromptFingerprint,
    rules: CachePolicy,
    *,
    system: str = "",
    message: str = "",
    message_tokens: int = 0,
    earlier: BlockLayout | None = None,
    weights: Sequence[float] | None = None,
) -> RequestPlan:
    """Plan the request that sends ``prompt`` and then ``message``.

    Args:
        prompt: The segments.
        chain: Their hashes and tokens.
        rules: The provider's cache.
        system: The instructions that go before everything.
        message: What is said behind the prompt and will not be there next time; it is never marked.
        message_tokens: Its tokens.
        earlier: The layout of the last request, whose breakpoints are kept as far as the bytes are the same.
        weights: How likely each segment is the first one to change; without it all files count alike.
    """
    tokens = _running(chain)
    if rules.caching is CacheLookup.MARKS:
        layout = _marked(prompt, chain, tokens, rules, earlier, weights or default_change_weights(prompt))
    else:
        layout = BlockLayout(chain.digests, tuple(range(1, len(tokens) + 1)), ())
    cuts = layout.ends if layout.marks else (1, len(tokens))
    blocks = _blocks(prompt, cuts, frozenset(layout.marks), tokens, system)
    if message:
        text = SEPARATOR + message if prompt.segments else message
        blocks = (*blocks, RequestBlock(BlockRole.MESSAGE, text, message_tokens))
    return RequestPlan(blocks, layout, tokens, message_tokens, rules)


def _marked(
    prompt: Prompt,
    chain: PromptFingerprint,
    tokens: Sequence[int],
    rules: CachePolicy,
    earlier: BlockLayout | None,
    weights: Sequence[float],
) -> BlockLayout:
    digests = chain.digests
    kept = common_prefix(digests, earlier.digests) if earlier else 0
    old_marks = [mark for mark in earlier.marks if mark <= kept] if earlier else []
    old_ends = [end for end in earlier.ends if end <= kept] if earlier else []
    body = 1 + sum(segment.section is not Section.HISTORY for segment in prompt.segments)
    ends = {1, body, *old_ends, *range(body, len(digests) + 1)}
    marks = choose_breakpoints(tokens, rules, body=body, ends=sorted(ends), old=old_marks, weights=weights)
    return BlockLayout(digests, tuple(sorted(ends | set(marks))), marks)


def _blocks(
    prompt: Prompt, cuts: Sequence[int], marks: frozenset[int], tokens: Sequence[int], system: str
) -> tuple[RequestBlock, ...]:
    """Return the blocks of the system prompt and of the document, cut behind the links ``cuts``."""
    blocks = [RequestBlock(BlockRole.SYSTEM, system, tokens[0], 1 in marks)] if system else []
    for start, end in pairwise((1, *(cut for cut in cuts if cut > 1))):
        texts = [segment.text for segment in prompt.segments[start - 1 : end - 1]]
        text = (SEPARATOR if start > 1 else "") + SEPARATOR.join(texts)
        blocks.append(RequestBlock(BlockRole.DOCUMENT, text, tokens[end - 1] - tokens[start - 1], end in marks))
    return tuple(blocks)


def _running(chain: PromptFingerprint) -> tuple[int, ...]:
    total, sums = 0, []
    for link in chain.links:
        total += link.tokens
        sums.append(total)
    return tuple(sums)
