"""Records of requests in small files beside the prompts.

They are used to plan the next request. A project must not bring its own records, so the user's state folder has hashes
of the genuine ones.
"""

import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aggregate.base.disk.reading import CONTENT_BYTES, open_regular, read_text
from aggregate.base.disk.writing import (
    STATE_VARIABLE,
    change_state,
    read_state,
    replace_own,
    state_folder,
    user_state_folder,
)
from aggregate.base.monitor import get_monitor
from aggregate.base.task import Level, SentFile
from aggregate.prompt import Request
from aggregate.prompt.document import END, SEPARATOR, Section, Segment, SourceMap
from aggregate.prompt.output.numbered_output import numbered_files, request_log_path
from aggregate.sending.cache.hashed_prompt import (
    SYSTEM,
    BlockLayout,
    HashedPrompt,
    HashedSegment,
    PrefixReport,
    compare_prefixes,
    digest,
)

if TYPE_CHECKING:
    from aggregate.prompt import Composition, PromptTokens, SegmentCounter

_FILE: Final = "sent_requests.json"
_MOST: Final = 200  # remembered records of a project
_VERSION = 2
_RECENT = 20  # records read for the next request: caches forget within an hour
_LINK: Final = attrgetter("section", "source", "digest", "tokens", "size")
_DIGITS: Final = 16  # of the hash of a segment
_SECTIONS: Final = {section.value: section.value for section in Section}
_LARGEST_NUMBER = 2**40  # upper bound of tokens and bytes


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """The record of a written or sent prompt."""

    path: Path
    prompt: HashedPrompt
    provider: str = ""  # ``""`` if it was only written
    model: str = ""
    layout: BlockLayout | None = None
    shown: tuple[SentFile, ...] = ()  # with a budget, in order
    pauses: tuple[float, ...] = ()  # seconds between the last turns
    discussion: str = ""  # ``""`` for the default one
    effort: str = ""


def write_request(request: LoggedRequest) -> str:
    """Write the record of a prompt; return an error message if its hash cannot be stored."""
    links = [*map(_LINK, request.prompt.segments)]
    data: dict[str, Any] = {"version": _VERSION, "encoding": "o200k_base", "links": links}
    if layout := request.layout:
        optional = {
            "effort": request.effort,
            "shown": request.shown,
            "lifetimes": layout.lifetimes,
            "pauses": [round(pause) for pause in request.pauses],
            "discussion": request.discussion,
        }
        data["sent"] = {
            "provider": request.provider,
            "model": request.model,
            "ends": layout.ends,
            "marks": layout.breakpoints,
            **{name: value for name, value in optional.items() if value},
        }
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    text = text.replace('],["', '],\n["') + "\n"
    problem = _remember(request.path.parent, text) if request.provider else ""
    record = request_log_path(request.path)
    # Keep the time of the first write: the lifetime in the cache begins with the request.
    start = record.stat().st_mtime_ns if request.provider and record.exists() else None
    replace_own(record, text)
    if start is not None:
        os.utime(record, ns=(start, start))
    return problem


def _remember(output_dir: Path, text: str) -> str:
    if user_state_folder() is None:
        return f"there is no home folder: set {STATE_VARIABLE}"
    path, new = state_folder(output_dir) / _FILE, _record_hash(text)

    def with_new(_: object) -> list[str]:
        return [*dict.fromkeys((*own_hashes(output_dir), new))][-_MOST:]

    return change_state(path, with_new)


def own_hashes(output_dir: Path) -> tuple[str, ...]:
    hashes = read_state(state_folder(output_dir) / _FILE)
    return tuple(map(str, hashes)) if isinstance(hashes, list) else ()


def _record_hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()


def recent_requests(
    output_dir: Path, namespace: str, *, before: Path | None = None, is_own: bool = False
) -> Iterator[LoggedRequest]:
    """Yield the records of recent prompts, newest first.

    With ``before`` only prompts older than this one, with ``is_own`` only prompts written by this user.
    """
    own = frozenset(own_hashes(output_dir)) if is_own else None
    paths = [path for _, path in numbered_files(output_dir, namespace)]
    if before in paths:
        paths = paths[: paths.index(before)]
    for path in paths[-_RECENT:][::-1]:
        if logged := read_request(path, own=own):
            yield logged


def read_request(prompt: Path, *, own: Collection[str] | None = None) -> LoggedRequest | None:
    """Return the record of a prompt, ``None`` if unreadable.

    ``own`` are the hashes of valid records; ``None`` accepts all.
    """
    try:
        text = read_text(request_log_path(prompt), limit=CONTENT_BYTES)
        if own is not None and _record_hash(text) not in own:
            return None
        data = json.loads(text)
        if data["version"] != _VERSION:
            return None
        links = enumerate(data["links"])
        segments = tuple(_read_hash(*link, is_first=not number) for number, link in links)
        written = LoggedRequest(prompt, HashedPrompt(segments))
        return _as_sent(written, data["sent"]) if data.get("sent") is not None else written
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def read_segment(request: LoggedRequest, number: int) -> str | None:
    """Return the text of a segment from the prompt's file, ``None`` if the file was edited."""
    preceding, part = request.prompt.segments[1:number], request.prompt.segments[number]
    start = sum(earlier.size + len(SEPARATOR) for earlier in preceding)
    try:
        descriptor, info = open_regular(request.path)
        with os.fdopen(descriptor, "rb") as file:
            if start + part.size > info.st_size:
                return None
            file.seek(start)
            text = file.read(part.size).decode()
    except (OSError, ValueError):
        return None
    return text if digest(text) == part.digest else None


def find_prompt(output_dir: Path, namespace: str, name: str) -> Path:
    if re.fullmatch(r"\d+", name):
        paths = dict(numbered_files(output_dir, namespace))
        return paths.get(int(name), output_dir / f"{namespace}_{int(name):03d}.md")
    return Path(name)


def _read_hash(
    section: str, source: str, digest: str, tokens: int, size: int, *, is_first: bool
) -> HashedSegment:
    if len(digest) != _DIGITS or digest.strip("0123456789abcdef"):
        raise ValueError("not the hash of a segment")
    name = str(section) if is_first else _SECTIONS[section]
    return HashedSegment(name, str(source), digest, _size(tokens), _size(size))


def _as_sent(written: LoggedRequest, data: Mapping[str, Any]) -> LoggedRequest:
    positions = (tuple(data.get(name, ())) for name in ("ends", "marks", "lifetimes"))
    return replace(
        written,
        provider=str(data["provider"]),
        model=str(data["model"]),
        effort=str(data.get("effort", "")),
        layout=BlockLayout(written.prompt.digests, *positions),
        shown=tuple(_read_shown(*file) for file in data.get("shown", ())),
        pauses=tuple(data.get("pauses", ())),
        discussion=str(data.get("discussion", "")),
    )


def _read_shown(
    path: str, level: str, lines: Sequence[tuple[int, int]], content_hash: str, tokens: int
) -> SentFile:
    runs = tuple((first, last) for first, last in lines)
    return SentFile(path, Level(level), runs, content_hash, tokens)


def _size(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= _LARGEST_NUMBER:
        raise ValueError("not a number of tokens or bytes")
    return value


def prompt_tokens(
    parts: Sequence[HashedSegment], counts: Sequence[int] | None = None
) -> "PromptTokens":
    """Sum the tokens of a prompt's segments, by default those of the hashed segments."""
    from aggregate.prompt import PromptTokens  # a quiet run counts nothing

    keys = [(Section(part.section), part.source) for part in parts]
    return PromptTokens.of(keys, counts or [part.tokens for part in parts])


class PromptMeter:
    """Hashes and counts the segments of a prompt during writing.

    For a prompt with an audit it also collects the file of each line (A-1). Without ``has_log`` no record is written,
    and the next prompt is not compared with this one.
    """

    def __init__(
        self,
        request: Request,
        counter: "SegmentCounter | None" = None,
        *,
        has_account: bool = False,
        has_log: bool = True,
    ) -> None:
        self._request, self._counter, self._has_log = request, counter, has_log
        self._parts: list[HashedSegment] = []
        self._source_map = SourceMap() if has_account else None

    def tokens(self) -> "PromptTokens | None":
        if self._counter is None:
            return None
        return prompt_tokens(self._parts, self._counter.counts())

    def pieces(self, segments: Iterable[Segment]) -> Iterator[bytes]:
        last: tuple[str, bytes] | None = None
        for segment in segments:
            if last is not None:
                yield SEPARATOR.encode()
                self._count(*last, SEPARATOR)
            if self._source_map is not None:
                # Prompts without an account need none.
                from aggregate.prompt.output.source_map import add_segment

                add_segment(self._source_map, segment)
            data = segment.text.encode()
            section, source = segment.section, segment.source
            self._parts.append(HashedSegment.of(data, 0, section=section, source=source))
            yield data
            last = segment.text, data
        if last is not None:
            yield END.encode()
            self._count(*last, END)

    @get_monitor().scope("log_written_prompt")
    def record(
        self, path: Path, prompt: "Composition", tokens: "PromptTokens | None"
    ) -> PrefixReport | None:
        """Write the record and the audit of a prompt; compare it with the last prompt."""
        request, parts = self._request, self._parts
        if self._source_map is not None and tokens is not None:
            from aggregate.prompt.audit import audit_of, write_audit
            from aggregate.prompt.output.source_map import add_separator

            size = sum(part.size + len(SEPARATOR) for part in parts)
            size -= len(SEPARATOR) - len(END) if size else 0
            source_map = self._source_map
            add_separator(source_map)
            write_audit(path, audit_of(request, prompt, tokens, size=size, source_map=source_map))
        if not self._has_log:
            return None
        if tokens is not None and tokens.segments:
            pairs = zip(parts, tokens.segments, strict=True)
            parts = [replace(part, tokens=number) for part, number in pairs]
        written = HashedPrompt((HashedSegment.of("", 0, section=SYSTEM), *parts))
        recent = recent_requests(request.output_dir, request.namespace, before=path)
        earlier = next((logged for logged in recent if not logged.provider), None)
        write_request(LoggedRequest(path, written))
        return compare_prefixes(earlier.prompt, written) if earlier else None

    def _count(self, text: str, data: bytes, separator: str) -> None:
        if self._counter is not None:
            self._counter.add(text, data, separator)
