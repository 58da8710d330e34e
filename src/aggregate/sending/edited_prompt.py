"""The last prompt with the blocks of changed files replaced."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self

from aggregate.prompt.document import END, SEPARATOR, Section
from aggregate.sending.cache.fingerprint import PromptFingerprint, SegmentHash
from aggregate.sending.request_log import LoggedRequest, prompt_tokens, read_request, write_request

if TYPE_CHECKING:
    from aggregate.prompt import File, PromptTokens

_PART_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class EditedPrompt:
    """The last prompt with the blocks of changed files replaced.

    It can be used like a ``Composition``, and like its ``PromptMeter``.
    """

    rows: "Sequence[File]"
    warnings: Sequence[str]
    _counts: bool
    _earlier: LoggedRequest
    _old: mmap
    _texts: Mapping[int, str]  # the new segments by their numbers
    _fingerprint: PromptFingerprint

    choices: ClassVar[tuple[()]] = ()
    smallest: ClassVar[int] = 0
    missing: ClassVar[tuple[()]] = ()
    guess: ClassVar[None] = None

    @classmethod
    def of(
        cls,
        path: Path,
        digest: str,
        blocks: Mapping[str, str],
        *,
        rows: "Sequence[File]",
        warnings: Sequence[str],
        counts: bool,
    ) -> Self | None:
        """Return the prompt at ``path`` with new ``blocks`` of files.

        ``None`` if the SHA-256 of its bytes is not ``digest``, or if it lacks one of the files.
        """
        earlier = read_request(path)
        if earlier is None:
            return None
        segments = [*earlier.fingerprint.segments]
        numbers = {
            segment.source: number
            for number, segment in enumerate(segments)
            if segment.section == Section.FILES
        }
        with path.open("rb") as file:
            old = mmap(file.fileno(), 0, access=ACCESS_READ)
        if sha256(old).hexdigest() != digest or not blocks.keys() <= numbers.keys():
            return None
        texts = {numbers[name]: text for name, text in blocks.items()}
        for number, text in texts.items():
            old_segment = segments[number]
            tokens = _count(text, is_last=number == len(segments) - 1) if counts else 0
            hashed = SegmentHash.of(
                text, tokens, section=old_segment.section, source=old_segment.source
            )
            segments[number] = hashed
        fingerprint = PromptFingerprint(tuple(segments))
        return cls(rows, warnings, counts, earlier, old, texts, fingerprint)

    @property
    def pieces(self) -> Iterator[bytes]:
        """The bytes of the prompt: unchanged parts are read from the old file."""
        start = end = 0
        for number, segment in enumerate(self._earlier.fingerprint.segments[1:], start=1):
            if number in self._texts:
                yield from self._copied(start, end)
                yield self._texts[number].encode()
                start = end + segment.size
            end += segment.size + len(SEPARATOR)
        yield from self._copied(start, len(self._old))

    def _copied(self, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, _PART_BYTES):
            yield self._old[at : min(at + _PART_BYTES, end)]

    def tokens(self) -> "PromptTokens | None":
        segments = self._fingerprint.segments[1:]
        counts = [segment.tokens for segment in segments]
        return prompt_tokens(segments, counts) if self._counts else None

    def record(self, path: Path, _tokens: object) -> None:
        write_request(LoggedRequest(path, self._fingerprint))


def _count(text: str, *, is_last: bool) -> int:
    from aggregate.base.tokens import count_batch  # slow to load, and a quiet run does not count

    return count_batch([text + (END if is_last else SEPARATOR)])[0]
