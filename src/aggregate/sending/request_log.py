"""Records of requests in small files beside the prompts.

They are used to plan the next request. A project must not bring its own records, so the user's state folder has hashes
of the genuine ones.
"""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from aggregate.base.disk.reading import CONTENT_BYTES, open_regular, read_text
from aggregate.base.disk.writing import (
    STATE_VARIABLE,
    change_state,
    read_state,
    replace_own,
    state_folder,
    user_state_folder,
)
from aggregate.base.monitor import timed
from aggregate.base.task_budget import Level, SentFile
from aggregate.prompt.asking import Request
from aggregate.prompt.document import SEPARATOR, Section
from aggregate.prompt.output.numbered_output import numbered_files, request_log_path
from aggregate.sending.cache.hashed_prompt import (
    BlockLayout,
    HashedPrompt,
    HashedSegment,
    PrefixReport,
    compare_prefixes,
    digest,
)

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


@timed("log_written_prompt")
def log_written_prompt(path: Path, prompt: HashedPrompt, request: Request) -> PrefixReport | None:
    """Record a prompt that was written but not sent; compare it with the last prompt."""
    recent = recent_requests(request.output_dir, request.namespace, before=path)
    earlier = next((logged for logged in recent if not logged.provider), None)
    write_request(LoggedRequest(path, prompt))
    return compare_prefixes(earlier.prompt, prompt) if earlier else None
