"""Make a prompt from the last one: render only edited files, and copy the rest."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Self

from aggregate.cli.remembered import ThisRun, last_prompt
from aggregate.prompt import Request, edited_blocks, known_files
from aggregate.prompt.document import END, SEPARATOR, Section
from aggregate.sending import LoggedRequest, read_request, write_request
from aggregate.sending.cache import HashedPrompt, HashedSegment

if TYPE_CHECKING:
    from aggregate.prompt import File, PromptTokens

_PART_BYTES: Final = 1 << 20


def edited_prompt(this: ThisRun, request: Request, *, counts: bool) -> "EditedPrompt | None":
    """Render the changed files into the earlier prompt; ``None`` if other blocks may change too."""
    run = this.earlier
    if run is None or not run.pages or run.written is None:
        return None
    values, warnings = json.loads(run.pages)
    files = known_files(request, values)
    by_file = {file.file: file for file in files if file.file}
    if not this.changed.keys() <= by_file.keys():
        return None
    blocks = edited_blocks(request, [by_file[path] for path in this.changed])
    last = blocks and last_prompt(run)
    logged = read_request(last.path) if last else None
    if not blocks or not last or not logged:
        return None
    with last.path.open("rb") as file:
        old = mmap(file.fileno(), 0, access=ACCESS_READ)
    segments = enumerate(logged.prompt.segments)
    numbers = {part.source: number for number, part in segments if part.section == Section.FILES}
    if sha256(old).hexdigest() != run.written.prompt or not blocks.keys() <= numbers.keys():
        return None
    texts = {numbers[path]: text for path, text in blocks.items()}
    return EditedPrompt.of(logged, old, texts, rows=files, warnings=warnings, counts=counts)


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
    _new: HashedPrompt

    choices: ClassVar[tuple[()]] = ()
    missing: ClassVar[tuple[()]] = ()
    guess: ClassVar[None] = None

    @classmethod
    def of(
        cls,
        earlier: LoggedRequest,
        old: mmap,
        texts: Mapping[int, str],
        *,
        rows: "Sequence[File]",
        warnings: Sequence[str],
        counts: bool,
    ) -> Self:
        segments = [*earlier.prompt.segments]
        for number, text in texts.items():
            section, source = segments[number].section, segments[number].source
            tokens = _count(text, is_last=number == len(segments) - 1) if counts else 0
            segments[number] = HashedSegment.of(text, tokens, section=section, source=source)
        return cls(rows, warnings, counts, earlier, old, texts, HashedPrompt(tuple(segments)))

    @property
    def pieces(self) -> Iterator[bytes]:
        """The bytes of the prompt: unchanged parts are read from the old file."""
        start = end = 0
        for number, segment in enumerate(self._earlier.prompt.parts, start=1):
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
        if not self._counts:
            return None
        from aggregate.prompt import PromptTokens  # a quiet run counts nothing

        parts = self._new.parts
        keys = [(Section(part.section), part.source) for part in parts]
        return PromptTokens.of(keys, [part.tokens for part in parts])

    def record(self, path: Path, _tokens: object) -> None:
        write_request(LoggedRequest(path, self._new))


def _count(text: str, *, is_last: bool) -> int:
    from aggregate.base.tokens import count_batch  # slow to load, and a quiet run does not count

    return count_batch([text + (END if is_last else SEPARATOR)])[0]
