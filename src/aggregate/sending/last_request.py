"""What is known of the last send when the next one is made: what a cache may hold of it, and what changes often."""

import time
from dataclasses import dataclass, field
from functools import partial

from aggregate.base.disk import project_root
from aggregate.base.redaction import redact
from aggregate.base.values import Prompt, Redaction, Section, SentFile
from aggregate.project.configuration import is_trusted
from aggregate.project.git import touched_files
from aggregate.prompt import Request, request_log_path
from aggregate.sending.cache.breakpoints import BlockLayout, Pauses
from aggregate.sending.cache.file_order import FORGET, count_changes
from aggregate.sending.cache.fingerprint import PromptFingerprint, digest
from aggregate.sending.cache.policy import CacheLookup, CachePolicy
from aggregate.sending.cache.retention import CachedPrompt
from aggregate.sending.clients.own_models import cache_policy
from aggregate.sending.request_log import (
    LoggedRequest,
    SentRecord,
    own_hashes,
    read_segment,
    recent_requests,
)

_LONGEST_PAUSE = 7 * 86_400  # seconds: who comes back after weeks tells nothing of the next turns


@dataclass(frozen=True, slots=True)
class LastRequest:
    logged: LoggedRequest | None = None  # its prompt, ``None`` if there was none
    sent: SentRecord = field(default_factory=lambda: SentRecord("", "", (), ()))
    # it went to the model that is asked now, with the same instructions
    may_be_cached: bool = False
    age: float = 0.0  # seconds since it was sent
    # What is a secret, and is not sent, not even again
    redaction: Redaction = field(default_factory=Redaction)
    is_own: bool = True  # it was of the same discussion, or of the one that this goes on from

    @property
    def fingerprint(self) -> PromptFingerprint | None:
        return self.logged.fingerprint if self.logged else None

    @property
    def shown(self) -> tuple[SentFile, ...]:
        """How much of each file it has shown, if it had a budget; another discussion was about something else."""
        return self.sent.shown if self.is_own else ()

    @property
    def layout(self) -> BlockLayout | None:
        if self.logged is None or not self.may_be_cached:
            return None
        sent = self.sent
        digests = self.logged.fingerprint.digests
        return BlockLayout(digests, sent.ends, sent.breakpoints, sent.lifetimes)

    @property
    def pauses(self) -> Pauses:
        earlier = Pauses(self.sent.pauses)
        is_pause = self.logged is not None and self.is_own and self.age <= _LONGEST_PAUSE
        return earlier.then(self.age) if is_pause else earlier

    def is_alive(self, usual: float) -> bool:
        return self.age <= max(self.sent.lifetimes, default=usual)

    def cached_prompt(self, policy: CachePolicy) -> CachedPrompt | None:
        if self.logged is None:
            return None
        readable: tuple[int, ...] | None = ()
        if policy.lookup is CacheLookup.BREAKPOINTS and self.layout:
            readable = self.layout.alive(self.age, policy.seconds)
        elif self.may_be_cached and self.age <= policy.seconds:
            readable = None
        return CachedPrompt(self.logged.fingerprint, partial(self._read, self.logged), readable)

    def changes(self, prompt: Prompt, request: Request) -> dict[str, float]:
        if self.logged:
            return count_changes(prompt, seen=self.sent.files, changes=self.sent.changes)
        files = {segment.source for segment in prompt.segments if segment.section is Section.FILES}
        changes: dict[str, float] = {}
        for number, names in enumerate(touched_files(str(request.base_dir))):
            for name in files.intersection(names):
                changes[name] = changes.get(name, 0.0) + FORGET**number
        return {path: round(often, 4) for path, often in sorted(changes.items())}

    def _read(self, logged: LoggedRequest, number: int) -> str | None:
        """Return the text of a segment; one that was sent with a secret in it is not sent once more."""
        text = read_segment(logged, number)
        if text is None or not self.redaction.replaces:
            return text
        return None if redact(text, self.redaction).findings else text


def find_last_request(
    request: Request, provider: str, model: str, system: str, lifetime: float
) -> LastRequest:
    """Return the last send of the discussion to the same model with the same instructions, by the user's own records.

    Where no cache holds that one it is the last one of another discussion that a cache holds, since the files begin
    both; else the last one of this discussion to any model, else of any.
    """
    recipient = (provider, model, digest(system))
    own = other = last = None
    # What the user has not written here counts in a trusted project alone.
    trusted = is_trusted(project_root(request.base_dir))
    hashes = None if trusted else frozenset(own_hashes(request.output_dir))
    for logged in recent_requests(request.output_dir, request.namespace, own=hashes):
        if logged.sent is None:
            continue
        sent = _last_request(logged, logged.sent, request, recipient)
        last = sent if last is None or (sent.is_own and not last.is_own) else last
        if not sent.may_be_cached:
            continue
        is_alive = sent.is_alive(lifetime)
        if sent.is_own and own is None:
            own = sent
        if (sent.is_own and is_alive) or (own is not None and not is_alive):
            break  # what is older is no longer cached either
        if is_alive and other is None:
            other = sent
    if own is not None and own.is_alive(lifetime):
        return own
    return other or own or last or LastRequest()


def _last_request(
    logged: LoggedRequest, sent: SentRecord, request: Request, recipient: tuple[str, str, str]
) -> LastRequest:
    reached = (sent.provider, sent.model, logged.fingerprint.digests[0])
    lookup = cache_policy(sent.provider, sent.model).lookup
    was_written = bool(sent.breakpoints) or lookup is not CacheLookup.BREAKPOINTS
    try:
        age = max(time.time() - request_log_path(logged.path).stat().st_mtime, 0.0)
    except OSError:
        age = float("inf")
    may_be_cached = reached == recipient and was_written
    is_own = sent.discussion in (request.discussion, request.continues)
    return LastRequest(logged, sent, may_be_cached, age, request.redaction, is_own)
