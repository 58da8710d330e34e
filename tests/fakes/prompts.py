"""Small prompts, plans and histories of prompts for tests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from aggregate import Prompt, Segment, Usage
from aggregate.prompt.document import Image, Section, Stability
from aggregate.prompt.sections import discussion_segments, fit_history
from aggregate.sending import known_model
from aggregate.sending.cache import (
    EarlierRequest,
    HashedPrompt,
    RequestPlan,
    SimulatedCache,
    charge,
    messages_of,
    plan_request,
)
from aggregate.sending.clients import ChatRequest
from aggregate.sending.models import CachePolicy


def part(section: str, text: str, source: str = "", *, stability: str = "stable") -> Segment:
    """Return a segment of a section, by the names that records have for both."""
    return Segment(Section(section), text, Stability(stability), source)


Policy = CachePolicy | tuple[str, str]
"""How a cache works, or the provider and the model whose cache it is."""


def plan_of(
    prompt: Prompt,
    tokens: Sequence[int],
    policy: Policy,
    *,
    system: str = "",
    message: str = "",
    images: Mapping[Image, int] | None = None,
    earlier: Any = None,
) -> RequestPlan:
    """Plan a request with made-up token counts."""
    return plan_request(
        HashedPrompt.of(
            prompt, tokens, system=system, system_tokens=10 if system else 0, images=images or {}
        ),
        known_model(*policy).cache if isinstance(policy, tuple) else policy,
        message=message,
        message_tokens=7 * bool(message),
        before=EarlierRequest(earlier),
    )


def talk(history: Sequence[object], newest: int = 0) -> Sequence[Segment]:
    """Return the segments of a discussion, or of its newest turns, each of 70 tokens."""
    if not newest:
        return discussion_segments(history)
    return fit_history(history, 70 * (newest - 1), lambda text: 70 * ("###" in text)).segments


def messages(plan: RequestPlan) -> list[tuple[str, str]]:
    """Return who says what in a request."""
    return [("assistant" if one.is_assistant else "user", one.text) for one in messages_of(plan)]


def hashed(prompt: Prompt, tokens: Sequence[int], *, system: str = "") -> HashedPrompt:
    """Return a prompt with its hashes and made-up token counts."""
    return HashedPrompt.of(prompt, tokens, system=system, system_tokens=2 * bool(system))


@dataclass(frozen=True)
class State:
    """A prompt with made-up token counts."""

    prompt: Prompt
    tokens: tuple[int, ...]

    def plan(self, policy: Policy, **options: Any) -> RequestPlan:
        return plan_of(self.prompt, self.tokens, policy, **options)


def state(files: dict[str, tuple[str, int]], said: list[tuple[str, int]]) -> State:
    """Return a prompt of files (path to text and tokens) and excerpts (text and tokens)."""
    parts = [(part("files", "## Files"), 3)]
    parts += [
        (part("files", f"### `{path}`\n\n{text}", path), tokens)
        for path, (text, tokens) in files.items()
    ]
    if said:
        parts.append((part("history", "## Discussion History", stability="volatile"), 4))
    for n, (text, tokens) in enumerate(said, start=1):
        name = f"Excerpt {n}"
        excerpt = f"### Discussion {name}\n\n{text}"
        parts.append((part("history", excerpt, name, stability="volatile"), tokens))
    return State(
        Prompt(tuple(segment for segment, _ in parts)), tuple(tokens for _, tokens in parts)
    )


@st.composite
def discussions(draw: st.DrawFn) -> list[State]:
    """Return the prompts of some turns: files change, come and go; the discussion only grows."""
    sizes = st.integers(0, 6000)
    files = {
        f"{name}.py": ("0", draw(sizes)) for name in draw(st.sets(st.sampled_from("abcdefghij")))
    }
    said: list[tuple[str, int]] = []
    turns = []
    for turn in range(draw(st.integers(1, 8))):
        for path in draw(
            st.sets(st.sampled_from([f"{name}.py" for name in "abcdefghij"]), max_size=2)
        ):
            if path in files and draw(st.booleans()):
                del files[path]
            else:
                files[path] = (str(turn), draw(sizes))
        # Of sizes that follow from one: to draw each takes longer than what is tested with them.
        size = draw(st.integers(1, 3000))
        said += [
            (f"turn {turn}, {n}", 1 + size * (n + 1) % 3000)
            for n in range(draw(st.integers(0, 30)))
        ]
        turns.append(state(dict(sorted(files.items())), list(said)))
    return turns


def run_through(turns: list[State], policy: CachePolicy) -> list[tuple[RequestPlan, Usage]]:
    """Plan and charge all turns of a discussion, a minute apart."""
    cache, earlier, done = SimulatedCache(), None, []
    for number, turn in enumerate(turns):
        plan = turn.plan(policy, earlier=earlier)
        usage, cache = charge(plan, cache, at=60.0 * number)
        earlier = plan.layout
        done.append((plan, usage))
    return done


def asking(plan: RequestPlan, model: str) -> ChatRequest:
    """Return a request for a short answer."""
    return ChatRequest(model=model, max_output=9, plan=plan)


def request(
    policy: Policy, *, model: str = "some-model", system: str = "", message: str = ""
) -> ChatRequest:
    """Return a request of two files and one excerpt."""
    small = state({"a.py": ("A", 3000), "b.py": ("B", 3000)}, [("hello", 20)])
    plan = small.plan(policy, system=system, message=message)
    return ChatRequest(model=model, max_output=500, plan=plan)


def file_segment(path: str, block: str) -> Segment:
    return Segment(Section.FILES, block, Stability.STABLE, path)
