"""Redact the texts of a prompt, and warn about the secrets found in them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from aggregate.base.redaction import ALLOWED_LINE, Finding, Redaction, redact, redact_words
from aggregate.prompt.document import Section, Segment

_MOST_NAMED: Final = 3  # rules or hashes in a sentence, which counts the rest
_MOST_PLACES: Final = 10  # files and sections named in the warning: a few rows of a terminal


@dataclass(slots=True, eq=False)
class FoundSecrets:
    _redaction: Redaction
    _by_place: dict[str, list[Finding]] = field(default_factory=dict, init=False)
    _files: set[str] = field(default_factory=set, init=False)

    def note_file(self, path: str, secrets: Sequence[Finding]) -> None:
        if self._redaction.replaces:
            self._note(path, secrets)
        elif secrets:
            self._files.add(path)

    def shown_segment(self, segment: Segment) -> Segment:
        """Return a segment with redacted text and source, and count the secrets found in it."""
        if segment.section is Section.FILES:  # searched when the files were read
            if segment.source in self._files:
                self.shown(segment.text, segment.source)
            return segment
        source = redact_words([segment.source], self._redaction).get(segment.source, segment.source)
        text = self.shown(segment.text, source or segment.section.value)
        return replace(segment, text=text, source=source)

    def shown(self, text: str, name: str) -> str:
        result = redact(text, self._redaction)
        self._note(name, result.findings)
        return result.text if self._redaction.replaces else text

    @property
    def places(self) -> set[str]:
        return {*self._by_place, *self._files}

    def _note(self, name: str, findings: Sequence[Finding]) -> None:
        if findings:
            self._by_place.setdefault(name, []).extend(findings)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a warning about secrets, ``()`` without any.

        It says the number of secrets and their places, and how to show or replace them.
        """
        findings = list(chain(*self._by_place.values()))
        if not findings:
            return ()
        number = f"{len(findings):,} secret{'s' if len(findings) > 1 else ''}"
        names = [self._name(*item) for item in self._by_place.items()]
        if len(names) > _MOST_PLACES:
            names[_MOST_PLACES:] = [f"{len(names) - _MOST_PLACES:,} more places"]
        where = ", ".join(names)
        if not self._redaction.replaces:
            return (f"{number} not replaced in {where}: --redact replaces them",)
        digests = list(dict.fromkeys(finding.digest for finding in findings if finding.digest))
        allow = ", ".join(f'"{digest}"' for digest in digests[:_MOST_NAMED])
        by_hash = f"allow = [{allow}] under [redaction], or " if allow else ""
        comment = f"a comment with {ALLOWED_LINE} on its line"
        return (
            f"{number} replaced in {where}: --no-redact keeps all, {by_hash}{comment} keeps one",
        )

    def _name(self, name: str, findings: Sequence[Finding]) -> str:
        rules = ", ".join(dict.fromkeys(finding.rule for finding in findings[:_MOST_NAMED]))
        # Secrets that are not replaced were found in a view, whose lines are not the file's.
        line = f":{findings[0].line}" if self._redaction.replaces else ""
        more = f" and {len(findings) - 1:,} more" if len(findings) > 1 else ""
        return f"{name}{line}{more} ({rules})"


def redact_text(text: str, name: str, redaction: Redaction) -> tuple[str, tuple[str, ...]]:
    secrets = FoundSecrets(redaction)
    return secrets.shown(text, name), secrets.warnings
