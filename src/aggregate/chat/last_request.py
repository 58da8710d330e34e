"""What is known of the last send when the next one is made: what a cache may hold of it, and what changes often."""

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from aggregate.chat.request_log import LoggedRequest, read_segment, recent_requests
from aggregate.compose.numbered_output import request_log_path
from aggregate.compose.request import Request
from aggregate.models.prompt import Prompt, Section
from aggregate.prompt_cache.file_order import FORGET, count_changes
from aggregate.prompt_cache.fingerprint import PromptFingerprint, digest
from aggregate.prompt_cache.policy import CacheLookup, CachePolicy
from aggregate.prompt_cache.request_plan import BlockLayout
from aggregate.prompt_cache.retention import CachedPrompt
from aggregate.sources.git import touched_files

if TYPE_CHECKING:
    from aggregate.redaction.redact import Redaction


@dataclass(frozen=True, slots=True)
class LastRequest:
    """The last send, as far as it matters for the next one.

    Attributes:
        run: What is recorded of it, ``None`` if there was none.
        same: Whether it went to the model that is asked now, with the same instructions, so that a cache may hold it.
        age: Seconds since then.
        redaction: Which secrets are not sent, not even again.
    """

    run: LoggedRequest | None = None
    same: bool = False
    age: float = 0.0
    redaction: "Redaction | None" = None

    @property
    def chain(self) -> PromptFingerprint | None:
        """The hashes of the prompt that was sent."""
        return self.run.chain if self.run else None

    @property
    def layout(self) -> BlockLayout | None:
        """Where its blocks ended, if a cache may hold them."""
        if self.run is None or self.run.sent is None or not self.same:
            return None
        return BlockLayout(self.run.chain.digests, self.run.sent.ends, self.run.sent.marks)

    def earlier(self, rules: CachePolicy) -> CachedPrompt | None:
        """Return its prompt, and where a cache can still be read that keeps to ``rules``."""
        if self.run is None or self.run.sent is None:
            return None
        marks = self.run.sent.marks if rules.caching is CacheLookup.MARKS else None
        alive = self.same and self.age <= rules.seconds
        return CachedPrompt(self.run.chain, partial(self._read, self.run), marks if alive else ())

    def changes(self, prompt: Prompt, request: Request) -> dict[str, float]:
        """Return how often each file has changed: by what was recorded, at first by the last commits."""
        if self.run and self.run.sent:
            return count_changes(prompt, seen=self.run.sent.files, changes=self.run.sent.changes)
        return _committed(prompt, str(request.base_dir))

    def _read(self, run: LoggedRequest, number: int) -> str | None:
        """Return the text of a link; one that was sent with a secret in it is not sent once more."""
        text = read_segment(run, number)
        if text is None or self.redaction is None:
            return text
        from aggregate.redaction.redact import redact

        return None if redact(text, self.redaction).findings else text


def find_last_request(request: Request, *, provider: str, model: str, system: str) -> LastRequest:
    """Return the last send to the same model with the same instructions, else the last one to any."""
    runs = [run for run in recent_requests(request.output_dir, request.namespace) if run.sent]
    to = (provider, model, digest(system))
    alike = (run for run in runs if run.sent and (run.sent.provider, run.sent.model, run.chain.digests[0]) == to)
    if run := next(alike, None):
        return LastRequest(run, same=True, age=_age(run), redaction=request.redaction)
    return LastRequest(runs[0], age=_age(runs[0]), redaction=request.redaction) if runs else LastRequest()


def _committed(prompt: Prompt, folder: str) -> dict[str, float]:
    shown = {segment.source for segment in prompt.segments if segment.section is Section.FILES}
    changes: dict[str, float] = {}
    for number, names in enumerate(touched_files(folder)):
        for name in shown.intersection(names):
            changes[name] = changes.get(name, 0.0) + FORGET**number
    return {path: round(often, 4) for path, often in sorted(changes.items())}


def _age(run: LoggedRequest) -> float:
    """Return the seconds since a run."""
    try:
        return max(time.time() - request_log_path(run.path).stat().st_mtime, 0.0)
    except OSError:
        return float("inf")
