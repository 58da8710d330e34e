"""What is recorded of each run, in a small file beside its numbered prompt: the chain of its segments."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aggregate.compose.numbered_output import numbered_files, request_log_path
from aggregate.compose.request import Request
from aggregate.disk.reading import CONTENT_BYTES, open_regular, read_text
from aggregate.disk.writing import replace_own
from aggregate.models.prompt import SEPARATOR, Prompt
from aggregate.prompt_cache.fingerprint import PromptFingerprint, SegmentHash, digest
from aggregate.prompt_cache.prefix_diff import PrefixReport, compare_prefixes

_VERSION = 2
_RECENT = 20
_MOST = 2**40
"""No prompt has as many bytes."""


@dataclass(frozen=True, slots=True)
class SentRecord:
    """What is known of a prompt that was sent.

    Attributes:
        provider: To whom.
        model: To which model.
        ends: Where blocks ended, as numbers of links.
        marks: Behind which links breakpoints stood.
        changes: How often each file has changed, by its path.
        files: The hash of each file as it was then, by its path.
    """

    provider: str
    model: str
    ends: tuple[int, ...]
    marks: tuple[int, ...]
    changes: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One run: its prompt's file, the chain, and what is known if it was sent."""

    path: Path
    chain: PromptFingerprint
    sent: SentRecord | None = None


def write_request(run: LoggedRequest) -> None:
    """Record a run in one step.

    Raises:
        OutputError: The file cannot be written.
    """
    links = [[link.section, link.source, link.digest, link.tokens, link.size] for link in run.chain.links]
    data: dict[str, Any] = {"version": _VERSION, "encoding": "o200k_base", "links": links}
    if run.sent:
        data["sent"] = asdict(run.sent)
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    replace_own(request_log_path(run.path), text.replace('],["', '],\n["') + "\n")


def log_written_prompt(
    path: Path, prompt: Prompt, request: Request, *, tokens: Sequence[int] | None = None
) -> PrefixReport | None:
    """Record a prompt that was written but not sent, and return what it keeps of the last one of this kind.

    Args:
        path: The prompt's file.
        prompt: Its segments.
        request: What was composed.
        tokens: Tokens of the segments; without them they are recorded as not counted.
    """
    chain = PromptFingerprint.of(prompt, tokens or [0] * len(prompt.segments))
    runs = recent_requests(request.output_dir, request.namespace, before=path)
    before = next((run for run in runs if run.sent is None), None)
    write_request(LoggedRequest(path, chain))
    return compare_prefixes(before.chain, chain) if before else None


def read_request(prompt: Path) -> LoggedRequest | None:
    """Return what was recorded of a prompt, ``None`` where nothing usable is: the report is then left out."""
    try:
        data = json.loads(read_text(request_log_path(prompt), limit=CONTENT_BYTES))
        if data["version"] != _VERSION:
            return None
        chain = PromptFingerprint(tuple(_link(*link) for link in data["links"]))
        return LoggedRequest(prompt, chain, _sent(data.get("sent"), most=len(chain.links)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def recent_requests(output_dir: Path, namespace: str, *, before: Path | None = None) -> Iterator[LoggedRequest]:
    """Yield the last runs that have a record, newest first.

    Args:
        output_dir: Where the prompts are.
        namespace: First part of their names.
        before: Only those with a lower number than this prompt.
    """
    files = numbered_files(output_dir, namespace)
    if before is not None:
        files = files[: next((i for i, (_, path) in enumerate(files) if path == before), len(files))]
    yield from (run for _, path in reversed(files[-_RECENT:]) if (run := read_request(path)))


def read_segment(run: LoggedRequest, number: int) -> str | None:
    """Return the text of a run's link as it was written, ``None`` where the prompt is gone or was edited."""
    before = run.chain.links[1:number]
    link = run.chain.links[number]
    try:
        descriptor, info = open_regular(run.path)
        with os.fdopen(descriptor, "rb") as file:
            start = sum(one.size for one in before) + len(SEPARATOR) * len(before)
            if start + link.size > info.st_size:
                return None
            file.seek(start)
            text = file.read(link.size).decode()
    except (OSError, ValueError):
        return None
    return text if digest(text) == link.digest else None


def find_prompt(output_dir: Path, namespace: str, name: str) -> Path:
    """Return the prompt that a person names by its number or its path; it need not exist."""
    if re.fullmatch(r"\d+", name):
        paths = dict(numbered_files(output_dir, namespace))
        return paths.get(int(name), output_dir / f"{namespace}_{int(name):03d}.md")
    return Path(name)


def _link(section: str, source: str, digest: str, tokens: int, size: int) -> SegmentHash:
    return SegmentHash(str(section), str(source), str(digest), _whole(tokens), _whole(size))


def _whole(value: object, least: int = 0, most: int = _MOST) -> int:
    """Return a whole number from ``least`` to ``most``.

    Raises:
        ValueError: It is none: somebody else has written the record.
    """
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"is no number from {least} to {most}")
    return int(value)


def _sent(data: Mapping[str, Any] | None, *, most: int) -> SentRecord | None:
    """Return what was recorded of a send; positions are numbers of links, up to ``most``, in ascending order."""
    if data is None:
        return None
    changes = {str(path): float(often) for path, often in data["changes"].items()}
    if not all(0 <= often <= _MOST for often in changes.values()):
        raise ValueError("a file has changed a number of times that cannot be")
    ends, marks = (tuple(_whole(one, 1, most) for one in data[key]) for key in ("ends", "marks"))
    if any(tuple(sorted({*positions})) != positions for positions in (ends, marks)):
        raise ValueError("positions are not in their order")
    files = {str(path): str(hexadecimal) for path, hexadecimal in data["files"].items()}
    return SentRecord(str(data["provider"]), str(data["model"]), ends, marks, changes, files)
