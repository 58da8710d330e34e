"""Replace the secrets of a text by placeholders."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aggregate.base.redaction.scan import Secret

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


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    findings: tuple[Finding, ...] = ()  # replaced secrets, in order
    has_allowed: bool = False  # has secrets allowed by the settings

    @property
    def is_changed(self) -> bool:
        """Whether this text, or its text under other settings, has replaced secrets."""
        return bool(self.findings) or self.has_allowed


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
        return Redacted(text, has_allowed=bool(candidates))
    findings.sort(key=lambda finding: finding.line)
    return Redacted(data.decode("utf-8", "surrogatepass"), tuple(findings))


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


def _unmarked_secrets(data: bytes) -> "list[Secret]":
    """Find secrets, except in lines marked with ``ALLOWED_LINE``."""
    from aggregate.base.redaction.scan import find_secrets  # its rules and their library take 40 ms

    allowed_line = ALLOWED_LINE.encode()
    secrets: list[Secret] = []
    end, allowed = -1, False
    for secret in find_secrets(data):
        if secret.start > end:
            start, end = data.rfind(b"\n", 0, secret.start) + 1, _line_end(data, secret.start)
            allowed = data.find(allowed_line, start, end) >= 0
        if not allowed:
            secrets.append(secret)
    return secrets


def _findings(data: bytes, secrets: "Sequence[Secret]") -> list[Finding]:
    findings, line, position = [], 1, 0
    for secret in secrets:
        line += data.count(b"\n", position, secret.start)
        position = secret.start
        findings.append(
            Finding(secret.rule, line, "" if secret.guessable else digest_of(secret.value(data)))
        )
    return findings


def _replace_secrets(data: bytes, secrets: "Sequence[Secret]", *, room: float) -> bytes:
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


def _drop_lines(data: bytes, secrets: "Sequence[Secret]") -> bytes:
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
