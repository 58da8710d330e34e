"""How much of a prompt's prefix is the same as before, and what ends it."""

from dataclasses import dataclass
from enum import StrEnum

from aggregate.models.prompt import Section
from aggregate.prompt_cache.fingerprint import SYSTEM, PromptFingerprint, SegmentHash


class DivergenceCause(StrEnum):
    """What happened where two prompts part."""

    SAME = "same"
    APPENDED = "appended"
    CUT = "cut"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class PrefixReport:
    """What two prompts share.

    Attributes:
        kept: o200k tokens of the shared prefix.
        before: Tokens of the earlier prompt, ``0`` where they were not counted.
        total: Tokens of the later prompt.
        cause: What happened where they part.
        where: The file or section at that place, ``""`` where nothing was changed.
    """

    kept: int
    before: int
    total: int
    cause: DivergenceCause
    where: str = ""

    @property
    def sentence(self) -> str:
        """The report in one line."""
        whole = f" of {self.before:,}" if self.before else ""
        share = f"{self.kept:,}{whole} tokens of the prefix are kept"
        return f"{share} ({self.cause.value}: {self.where})" if self.where else f"{share} ({self.cause.value})"


def compare_prefixes(earlier: PromptFingerprint, later: PromptFingerprint) -> PrefixReport:
    """Return what the later prompt keeps of the earlier one."""
    shared = later.common(earlier)
    kept = sum(link.tokens for link in later.links[:shared])
    old, new = earlier.links[shared : shared + 1], later.links[shared : shared + 1]
    cause, link = _cause(earlier, later, old, new)
    if link and link.section == Section.CHANGED:
        # A diff that comes, goes or is another one: the file itself has changed.
        rest = (later if link in new else earlier).links[shared:]
        cause, link = DivergenceCause.CHANGED, next(one for one in rest if one.source)
    # Counts of a segment depend by a token on whether something follows it.
    kept = min(kept, earlier.tokens) if earlier.tokens else kept
    return PrefixReport(kept, earlier.tokens, later.tokens, cause, _name(link) if link else "")


def _cause(
    earlier: PromptFingerprint, later: PromptFingerprint, old: tuple[SegmentHash, ...], new: tuple[SegmentHash, ...]
) -> tuple[DivergenceCause, SegmentHash | None]:
    if not old:
        return (DivergenceCause.APPENDED if new else DivergenceCause.SAME), None
    if not new:
        return DivergenceCause.CUT, old[0]
    if _key(old[0]) == _key(new[0]):
        return DivergenceCause.CHANGED, old[0]
    if _key(old[0]) not in {_key(link) for link in later.links}:
        return DivergenceCause.REMOVED, old[0]
    if _key(new[0]) not in {_key(link) for link in earlier.links}:
        return DivergenceCause.ADDED, new[0]
    there = next(link for link in later.links if _key(link) == _key(old[0]))
    return (DivergenceCause.MOVED if there.digest == old[0].digest else DivergenceCause.CHANGED), old[0]


def _key(link: SegmentHash) -> tuple[str, str]:
    return link.section, link.source


def _name(link: SegmentHash) -> str:
    return link.source or ("the system prompt" if link.section == SYSTEM else f"the heading of {link.section}")
