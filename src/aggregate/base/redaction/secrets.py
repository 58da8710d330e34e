"""Find the secrets of a text by rules, also private keys of many lines; replace them by placeholders."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aggregate.base.redaction.secret_rules import SecretRule

ALLOWED_LINE: Final = "aggregate: allow-secret"  # in a comment: allows the line's secrets


@dataclass(frozen=True, slots=True)
class Redaction:
    """Settings of redaction; secrets that are not allowed are always reported."""

    allow: AbstractSet[str] = field(default_factory=frozenset)  # ``sha256:…`` of allowed values
    replaces: bool = True  # in the prompt


AS_THEY_ARE: Final = Redaction(replaces=False)


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    line: int  # 1-based
    digest: str = ""  # to allow it; ``""`` if a hash of the short value could be reversed

    @property
    def sentence(self) -> str:
        setting = f'allow = ["{self.digest}"] under [redaction], or ' if self.digest else ""
        return f"redacted ({self.rule}); if it is not a secret: {setting}a comment with {ALLOWED_LINE} on the line"


_SHORT, _SHORTEST = b"[REDACTED]", b"***"
_GROWTH = 0.2  # largest growth of the text, relative and up to any point
_PASSES = 4  # searches until lines with secrets are dropped whole; ordinary texts need one


_BEGINS: Final = (b"-----BEGIN", b"Private-Lines")
_BEFORE: Final = re.compile(rb"(?:\\[nrt]|[\s\"'`#*>|,(])*(?:// )?")
_BEHIND: Final = b" \t\r\n\"'`,;)]}\\+"
_ESCAPED: Final = re.compile(rb"\\[nr]|\\\\n")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/=]+")
# Base64 characters of a key: the shortest keys have 64, code with only the markers none.
_LEAST: Final = 48
_LEAST_LINE: Final = 16  # characters of a line of a key without an end marker
_MOST_JUDGED: Final = 1_000  # judged bytes of a value, for values of megabytes
_PLACEHOLDERS: Final = (b"[REDACTED", b"***")
PRIVATE_KEY: Final = "private-key"  # id of the only secret with many lines, found without a rule


@dataclass(frozen=True, slots=True)
class Secret:
    rule: str
    runs: tuple[tuple[int, int], ...]  # byte offsets, one run per line
    guessable: bool = False

    @property
    def start(self) -> int:
        return self.runs[0][0]

    @property
    def end(self) -> int:
        return self.runs[-1][1]

    def value(self, data: bytes) -> bytes:
        return b"".join(data[start:end] for start, end in self.runs)


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    findings: tuple[Finding, ...] = ()  # replaced secrets, in order
    is_changed: bool = False  # has replaced secrets, or would have under other settings


def redact(text: str, redaction: Redaction) -> Redacted:
    """Replace each secret by ``[REDACTED:rule]``.

    Redacting a text twice changes nothing more. The number of lines is kept: a private key gets a placeholder in its
    first line and ``***`` in the others. No beginning of the text grows by more than a fifth, so a short secret may
    become ``[REDACTED]`` or ``***``.
    """
    data, findings = text.encode("utf-8", "surrogatepass"), list[Finding]()
    for attempt in count():
        candidates = _unmarked_secrets(data) if data else []
        secrets = [
            secret for secret in candidates if digest_of(secret.value(data)) not in redaction.allow
        ]
        if not secrets:
            break
        findings += _findings(data, secrets)
        # Search again: a rule may match the text around a placeholder.
        if attempt > _PASSES:
            data = _drop_lines(data, secrets)
        else:
            data = _replace_secrets(data, secrets, room=0.0 if attempt else _GROWTH)
    if not findings:
        return Redacted(text, is_changed=bool(candidates))
    findings.sort(key=lambda finding: finding.line)
    clean = data.decode("utf-8", "surrogatepass")
    return Redacted(clean, tuple(findings), is_changed=True)


def redact_words(words: Iterable[str], redaction: Redaction) -> Mapping[str, str]:
    """Return the redacted form of each text with a secret; nothing if secrets are shown."""
    texts = list(dict.fromkeys(words)) if redaction.replaces else []
    if not redact("\n".join(texts), redaction).findings:
        return {}
    # One by one: a placeholder must not depend on the other texts.
    redacted = {text: redact(text, redaction).text for text in texts}
    return {text: clean for text, clean in redacted.items() if text != clean}


def digest_of(value: bytes) -> str:
    return f"sha256:{hashlib.sha256(value).hexdigest()}"


def _unmarked_secrets(data: bytes) -> list[Secret]:
    """Find secrets, except in lines marked with ``ALLOWED_LINE``."""
    allowed_line = ALLOWED_LINE.encode()
    secrets: list[Secret] = []
    end, allowed = -1, False
    for secret in _find_secrets(data):
        if secret.start > end:
            start, end = data.rfind(b"\n", 0, secret.start) + 1, _line_end(data, secret.start)
            allowed = data.find(allowed_line, start, end) >= 0
        if not allowed:
            secrets.append(secret)
    return secrets


def _find_secrets(data: bytes) -> list[Secret]:
    """Return a text's secrets in order; where secrets overlap, the earlier rule wins."""
    from aggregate.base.redaction.secret_rules import possible_rules  # 40 ms with their library

    candidates: list[tuple[int, Secret]] = []
    for rank, pattern, rule in possible_rules(data):
        secrets_of_rule = (
            _rule_matches(rule, pattern, data) if rule else _private_keys(pattern, data)
        )
        candidates += [(rank, secret) for secret in secrets_of_rule]
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1].start))
    secrets: list[Secret] = []
    for _, group in groupby(candidates, key=itemgetter(0)):
        position, free = 0, list[Secret]()
        for _, secret in group:
            while position < len(secrets) and secrets[position].end <= secret.start:
                position += 1
            if position == len(secrets) or secrets[position].start >= secret.end:
                free.append(secret)
        secrets = sorted([*secrets, *free], key=lambda secret: secret.start)
    return secrets


def _rule_matches(rule: "SecretRule", pattern: re.Pattern[bytes], data: bytes) -> Iterator[Secret]:
    for match in pattern.finditer(data):
        start, end = match.span(match.lastindex or 0)
        value = data[start : min(end, start + _MOST_JUDGED)]
        if any(mark in value for mark in _PLACEHOLDERS):
            continue
        if rule.accepts is None or rule.accepts(value.decode("utf-8", "replace")):
            yield Secret(rule.id, ((start, end),), rule.guessable)


def _private_keys(pattern: re.Pattern[bytes], data: bytes) -> Iterator[Secret]:
    markers = [match.span() for match in pattern.finditer(data)]
    for (start, end), (next_start, _) in zip(markers, [*markers[1:], (len(data), 0)], strict=True):
        if not data.startswith(_BEGINS, start):
            continue
        has_end = next_start < len(data) and not data.startswith(_BEGINS, next_start)
        runs = tuple(_runs(data, end, next_start, whole=has_end))
        if sum(run_end - run_start for run_start, run_end in runs) >= _LEAST:
            yield Secret(PRIVATE_KEY, runs)


def _runs(data: bytes, start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield start and end of the base64 text in each line of a private key."""
    while start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        run = _run(data, start, stop)
        if run and (whole or run[1] - run[0] >= _LEAST_LINE):
            yield run
        elif not whole and data[start:stop].strip():
            return
        start = stop


def _run(data: bytes, start: int, stop: int) -> tuple[int, int] | None:
    """Return start and end of the base64 text in a line, None without any."""
    prefix = _BEFORE.match(data, start, stop)
    start = prefix.end() if prefix else start
    while stop > start:
        escaped = data.endswith((b"\\n", b"\\r"), start, stop)
        if not escaped and data[stop - 1] not in _BEHIND:
            break
        stop -= 2 if escaped else 1
    core = data[start:stop]
    return (start, stop) if core and _BASE64.fullmatch(_ESCAPED.sub(b"", core)) else None


def _findings(data: bytes, secrets: Sequence[Secret]) -> list[Finding]:
    findings, line, position = [], 1, 0
    for secret in secrets:
        line += data.count(b"\n", position, secret.start)
        position = secret.start
        findings.append(
            Finding(secret.rule, line, "" if secret.guessable else digest_of(secret.value(data)))
        )
    return findings


def _replace_secrets(data: bytes, secrets: Sequence[Secret], *, room: float) -> bytes:
    """Replace secrets by placeholders.

    The text up to any point may grow by ``room`` times its length.
    """
    pieces: list[bytes] = []
    position = total = added = 0
    for secret in secrets:
        for number, (start, end) in enumerate(secret.runs):
            size = _characters(data[start:end])
            total += _characters(data[position:start]) + size
            limit = size + int(room * total) - added if room else size
            full = f"[REDACTED:{secret.rule}]".encode()
            forms = (full, _SHORT, _SHORTEST) if number == 0 else (_SHORTEST,)
            form = next((form for form in forms if len(form) <= limit), _SHORTEST[:size])
            added += len(form) - size
            pieces += (data[position:start], form)
            position = end
    return b"".join([*pieces, data[position:]])


def _drop_lines(data: bytes, secrets: Sequence[Secret]) -> bytes:
    """Replace whole lines that contain secrets, the last resort for hostile texts."""
    pieces: list[bytes] = []
    position = 0
    for start, end in (run for secret in secrets for run in secret.runs):
        first, last = data.rfind(b"\n", 0, start) + 1, _line_end(data, end)
        if first >= position:
            pieces += (data[position:first], _SHORTEST)
            position = last
    return b"".join([*pieces, data[position:]])


def _line_end(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end


def _characters(data: bytes) -> int:
    return len(data) if data.isascii() else len(data.decode("utf-8", "surrogatepass"))
