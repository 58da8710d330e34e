"""Replacing the secrets of a text in their place."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aggregate.base.redaction.scan import Secret

# In a line, in a comment of any language, it lets the line's secrets stand.
ALLOWED_LINE: Final = "aggregate: allow-secret"


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is redacted: secrets are told of in any case, and nothing that is kept for later runs has one."""

    # ``sha256:…`` of values that are no secrets.
    allow: AbstractSet[str] = field(default_factory=frozenset)
    replaces: bool = True  # in what is shown


AS_THEY_ARE: Final = Redaction(replaces=False)


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    line: int  # where it begins, 1-based
    digest: str = ""  # to be allowed by; ``""`` for one so short that its hash would give it away

    @property
    def sentence(self) -> str:
        how = f'allow = ["{self.digest}"] under [redaction], or ' if self.digest else ""
        return f"redacted ({self.rule}); if it is no secret: {how}a comment with {ALLOWED_LINE} on the line"


_SHORT, _SHORTEST = b"[REDACTED]", b"***"

# The redacted text is longer than the text by this part at the most, at every point of it.
_GROWTH = 0.2

# How often a text is searched again before lines that hold secrets go as a whole: ordinary texts need one pass.
_PASSES = 4


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    findings: tuple[Finding, ...] = ()  # what was replaced, in order
    has_allowed: bool = False  # it holds something that the settings alone make no secret

    @property
    def is_changed(self) -> bool:
        """Whether it has secrets, or would have some by other settings."""
        return bool(self.findings) or self.has_allowed


def redact(text: str, redaction: Redaction) -> Redacted:
    """Return ``text`` with each secret replaced by ``[REDACTED:rule]``.

    Lines stay lines: a private key has a placeholder in its first line and ``***`` in the others. What follows is
    never longer than 1.2 times the text up to there: where a short secret leaves no room, the placeholder is
    ``[REDACTED]`` or ``***``. Redacting once more changes nothing.
    """
    data, findings = text.encode("utf-8", "surrogatepass"), list[Finding]()
    for attempt in count():
        found = _found(data) if data else []
        secrets = [one for one in found if digest_of(one.value(data)) not in redaction.allow]
        if not secrets:
            break
        findings += _findings(data, secrets)
        # What stood before a secret may now stand before something else, so that a rule finds it there.
        if attempt > _PASSES:
            data = _blanked(data, secrets)
        else:
            data = _replaced(data, secrets, room=0.0 if attempt else _GROWTH)
    if not findings:
        return Redacted(text, has_allowed=bool(found))
    findings.sort(key=lambda finding: finding.line)
    return Redacted(data.decode("utf-8", "surrogatepass"), tuple(findings))


def redact_words(words: Iterable[str], redaction: Redaction) -> Mapping[str, str]:
    """Return those of some texts that hold secrets, with what is shown in their place; nothing where all are shown."""
    texts = list(dict.fromkeys(words)) if redaction.replaces else []
    if not redact("\n".join(texts), redaction).findings:
        return {}
    # Each by itself, so that its placeholder does not depend on the others.
    clean = {text: redact(text, redaction).text for text in texts}
    return {text: shown for text, shown in clean.items() if text != shown}


def digest_of(value: bytes) -> str:
    return f"sha256:{hashlib.sha256(value).hexdigest()}"


def _found(data: bytes) -> "list[Secret]":
    # But for those whose lines say that they are none.
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


def _replaced(data: bytes, secrets: "Sequence[Secret]", *, room: float) -> bytes:
    # ``room`` is what placeholders may add, as a part of the text before them.
    pieces: list[bytes] = []
    position = before = added = 0
    for secret in secrets:
        for number, (start, end) in enumerate(secret.runs):
            size = _characters(data[start:end])
            before += _characters(data[position:start]) + size
            limit = size + int(room * before) - added if room else size
            full = f"[REDACTED:{secret.rule}]".encode()
            forms = (full, _SHORT, _SHORTEST) if number == 0 else (_SHORTEST,)
            form = next((form for form in forms if len(form) <= limit), _SHORTEST[:size])
            added += len(form) - size
            pieces += (data[position:start], form)
            position = end
    return b"".join([*pieces, data[position:]])


def _blanked(data: bytes, secrets: "Sequence[Secret]") -> bytes:
    # Without the lines that hold secrets: what only hostile texts need, and always an end.
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
