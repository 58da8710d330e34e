"""The hashes of a prompt's segments in order: which prefix two prompts share, and what ends it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from aggregate.models.prompt import Prompt

SYSTEM = "system"
"""Stands for the section of the first link: the instructions that are sent before the prompt."""


@dataclass(frozen=True, slots=True)
class Link:
    """One segment: where it comes from, a hash of its bytes, and its o200k tokens."""

    section: str
    source: str
    digest: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The links of a prompt; the first one is the system prompt, also where that is empty."""

    links: tuple[Link, ...]

    @classmethod
    def of(cls, prompt: Prompt, tokens: Sequence[int], *, system: str = "", system_tokens: int = 0) -> "Chain":
        """Return the chain of a prompt whose segments have ``tokens``."""
        first = Link(SYSTEM, "", digest(system), system_tokens)
        rest = (
            Link(segment.section.value, segment.source, digest(segment.text), number)
            for segment, number in zip(prompt.segments, tokens, strict=True)
        )
        return cls((first, *rest))

    @property
    def digests(self) -> tuple[str, ...]:
        """The hashes in order."""
        return tuple(link.digest for link in self.links)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return sum(link.tokens for link in self.links)

    def common(self, other: "Chain") -> int:
        """Return how many links both begin with."""
        return common(self.digests, other.digests)


def digest(text: str) -> str:
    """Return a hash of a text, 16 hexadecimal digits: enough to tell the states of one project's files apart."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the prefix that two sequences share."""
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared
