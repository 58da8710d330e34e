"""Which files of a prompt hold what looks like a secret: looked for behind the page's back, never in its way."""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING

from aggregate.panel.composing import ComposedDraft

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction

_MOST_CHARACTERS = 1_000_000
"""Of a file that is searched: a longer one is data, and takes long."""


class SecretFinder:
    """Looks for secrets in the texts of a prompt's files; what was searched once is not searched again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, bool]] = {}
        self._redaction: Redaction | None = None

    def paths(self, composed: ComposedDraft) -> frozenset[str]:
        """Return the files of the prompt in which secrets were found so far."""
        return frozenset(
            file.path
            for file in composed.composition.files
            if file.redacted or self._known.get(file.path, (b"", False))[1]
        )

    def search(self, composed: ComposedDraft, *, until: Callable[[], bool]) -> bool:
        """Search the files that the prompt shows; tell whether anything was found that was not known.

        Args:
            composed: The prompt.
            until: Asked before each file whether to stop.
        """
        from aggregate.redaction.redact import Redaction, redact  # its rules take time to compile

        redaction = Redaction(frozenset(_allowed(composed)))
        if redaction != self._redaction:  # what may stay is another question to each file
            self._redaction = redaction
            self._known = {path: (b"", was_found) for path, (_, was_found) in self._known.items()}
        has_news = False
        for file in composed.composition.files:
            if until():
                break
            text = file.source
            if not text or file.redacted or len(text) > _MOST_CHARACTERS:
                has_news |= self._known.pop(file.path, (b"", False))[1]
                continue
            digest = sha256(text.encode(errors="surrogatepass")).digest()
            known, was_found = self._known.get(file.path, (b"", False))
            if known == digest:
                continue
            is_found = bool(redact(text, redaction).findings)
            self._known[file.path] = digest, is_found
            has_news |= is_found != was_found
        return has_news


def _allowed(composed: ComposedDraft) -> tuple[str, ...]:
    """Return the values that are no secrets, by their hashes, as the project says."""
    return tuple(composed.project.config.redaction.allow)
