"""What counts as a secret of the user's, and what is told of one that was found."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

ALLOWED_LINE: Final = "aggregate: allow-secret"
"""In a line, in a comment of any language, it lets the line's secrets stand."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is redacted.

    Attributes:
        allow: Hashes of values that are no secrets, each ``sha256:`` and 64 hexadecimal digits.
        replaces: Whether secrets are replaced in what is shown. They are told of in any case, and nothing that is kept
            for later runs has one.
    """

    allow: AbstractSet[str] = field(default_factory=frozenset)
    replaces: bool = True


AS_THEY_ARE: Final = Redaction(replaces=False)
"""Secrets are told of."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret that was found; its value is not kept.

    Attributes:
        rule: The id of the rule.
        line: The 1-based line where it begins.
        digest: ``sha256:…`` of the value, to be allowed by; ``""`` for one so short that its hash would give it away.
    """

    rule: str
    line: int
    digest: str = ""

    @property
    def sentence(self) -> str:
        """What was done, and how to undo it."""
        how = f'allow = ["{self.digest}"] under [redaction], or ' if self.digest else ""
        return f"redacted ({self.rule}); if it is no secret: {how}a comment with {ALLOWED_LINE} on the line"
