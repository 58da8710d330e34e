"""Recording the account of a prompt while it is written (rule A-1)."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aggregate.base.values import SEPARATOR, Audit, Segment
from aggregate.prompt import Request, SourceMapBuilder, audit_of, write_audit

if TYPE_CHECKING:
    from aggregate.prompt import Composition, PromptTokens


class AuditRecorder:
    """Notes where the lines of a prompt come from while its segments pass, and keeps none of their texts.

    Args:
        request: What is composed.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._builder = SourceMapBuilder()
        self._size = 0

    def watch(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield the segments as they are, and note where their lines come from."""
        for segment in segments:
            self._size += len(segment.text.encode()) + len(SEPARATOR)
            self._builder.add(segment)
            yield segment

    def audit(self, prompt: "Composition", tokens: "PromptTokens") -> Audit:
        """Return the account of the prompt, all segments of which have passed."""
        size = max(self._size - len(SEPARATOR), 0)
        source_map = self._builder.build()
        return audit_of(self._request, prompt, tokens, size=size, source_map=source_map)

    def write(self, path: Path, prompt: "Composition", tokens: "PromptTokens") -> None:
        """Write the account beside the prompt at ``path``.

        Raises:
            OutputError: The file cannot be written.
        """
        write_audit(path, self.audit(prompt, tokens))
