"""The order of files for sending, and which older versions stay where a cache holds them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, strategies as st

from aggregate import Prompt, Segment, count
from aggregate.base.values import Section, Stability
from aggregate.prompt import count_prompt
from aggregate.prompt.layout import FILES, file_block, file_segment, files_section
from aggregate.prompt.sections import changed_segment
from aggregate.sending.cache import HashedPrompt
from aggregate.sending.cache.file_order import (
    OrderedPrompt,
    count_changes,
    file_digests,
    order_for_sending,
)
from aggregate.sending.cache.fingerprint import PromptFingerprint
from aggregate.sending.cache.policy import NO_CACHE, CacheLookup, CachePolicy, policy_for
from aggregate.sending.cache.retention import LARGEST, CachedPrompt

MARKS = policy_for("anthropic", "claude-sonnet-5")
PREFIX = CachePolicy(CacheLookup.PREFIX)
LOCAL = policy_for("compatible", "")
NAMES = [f"{letter}.py" for letter in "abcdef"]


def body(name: str, lines: int, changed: int = 0) -> str:
    """Return a file; ``changed`` of its lines differ."""
    return "".join(f"{name} {n}{' new' * (n < changed)}\n" for n in range(lines))


SIZES = {"a.py": 60, "b.py": 120, "c.py": 240}
CONTENT = {name: body(name, lines) for name, lines in SIZES.items()}


def prompt_of(content: Mapping[str, str], said: int = 1) -> Prompt:
    """Return a prompt of files and excerpts."""
    segments = (file_segment(path, file_block(path, text)) for path, text in content.items())
    files = files_section(FILES, segments)
    heading = Segment(Section.HISTORY, "## Discussion History", Stability.VOLATILE)
    excerpts = (
        Segment(Section.HISTORY, f"### {n}", Stability.VOLATILE, f"{n}") for n in range(said)
    )
    return Prompt((*files, heading, *excerpts))


@dataclass(frozen=True)
class Turn:
    """A prompt that was put in order."""

    plain: Prompt
    ordered: OrderedPrompt

    def earlier(self, breakpoints: tuple[int, ...] | None = None) -> CachedPrompt:
        """Return it as the last prompt that was sent."""
        texts = ("", *(one.text for one in self.prompt.segments))
        return CachedPrompt(self.ordered.prompt.fingerprint, texts.__getitem__, breakpoints)

    @property
    def prompt(self) -> Prompt:
        """The prompt in order."""
        return self.ordered.prompt.prompt

    @property
    def tokens(self) -> list[int]:
        """The tokens of its segments."""
        return [part.tokens for part in self.ordered.prompt.segments]

    @property
    def shown(self) -> str:
        """The files in their order; a diff with an asterisk."""
        segments = (
            one for one in self.prompt.segments if one.section is not Section.HISTORY and one.source
        )
        return " ".join(
            one.source.removesuffix(".py") + "*" * (one.section is Section.CHANGED)
            for one in segments
        )


def order(
    plain: Prompt,
    policy: CachePolicy,
    *,
    earlier: CachedPrompt | None = None,
    changes: Mapping[str, float] | None = None,
) -> OrderedPrompt:
    """Put a prompt in order."""
    hashed = HashedPrompt.of(plain, count_prompt(plain).segments)
    return order_for_sending(hashed, policy, earlier=earlier, changes=changes or {}, count=count)


def turn(
    content: Mapping[str, str],
    after: Turn | None = None,
    *,
    policy: CachePolicy = PREFIX,
    changes: Mapping[str, float] | None = None,
    said: int = 1,
) -> Turn:
    """Put a prompt in order behind another one."""
    plain = prompt_of(content, said)
    earlier = after.earlier() if after else None
    return Turn(plain, order(plain, policy, earlier=earlier, changes=changes))


def test_the_first_order_puts_what_changes_last() -> None:
    """By how often a file changes for each of its tokens; a large file goes before a small one that changes as often."""
    assert turn(CONTENT).shown == "c b a"
    assert turn(CONTENT, changes={"c.py": 9.0}).shown == "b a c"


def test_a_file_that_changed_too_much_is_written_anew() -> None:
    """Where the diff would be longer than the file, all from there on is written again, without older versions."""
    first = turn(CONTENT)
    second = turn(CONTENT | {"c.py": body("c.py", 240, 1)}, first)
    assert turn(CONTENT | {"b.py": body("b.py", 120, 120)}, first).shown == "c b a"
    third = turn(
        {"a.py": CONTENT["a.py"], "b.py": body("b.py", 120, 120), "c.py": body("c.py", 240, 1)},
        second,
    )
    assert third.shown == "c b a c*"
    assert third.ordered.older == ("c.py",)


def test_breakpoints_decide_what_is_worth_keeping() -> None:
    """Old files are kept where a breakpoint lets them be read, and written anew where none does."""
    first = turn(CONTENT)
    changed = prompt_of(CONTENT | {"c.py": body("c.py", 240, 1)})
    shown = [
        Turn(changed, order(changed, MARKS, earlier=first.earlier(breakpoints))).shown
        for breakpoints in ((5,), ())
    ]
    assert shown == ["c b a c*", "c b a"]


def test_changes_fade() -> None:
    """A change counts 1, and a little less with each later change of another file; a quiet turn forgets nothing."""
    plain = prompt_of(CONTENT)
    seen = file_digests(plain)
    changed = prompt_of(CONTENT | {"b.py": "new\n"})
    assert count_changes(changed, seen=seen, changes={"a.py": 1.0}) == {"a.py": 0.98, "b.py": 1.0}
    assert count_changes(plain, seen=seen, changes={"a.py": 1.0}) == {"a.py": 1.0}


CONTENTS = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(body, st.just("x"), st.integers(0, 40), st.integers(0, 8)),
    max_size=6,
)


@given(st.lists(CONTENTS, min_size=1, max_size=8), st.sampled_from([PREFIX, MARKS, LOCAL]))
def test_every_file_can_be_told_as_it_is(
    contents: list[dict[str, str]], policy: CachePolicy
) -> None:
    """Whatever happens, each file stands there once, as it is or with the diff to that, and no other file does.

    The tokens are those of the prompt, older versions take little, and put in order behind itself nothing moves.
    """
    last = None
    for number, content in enumerate(contents):
        now = turn(content, last, policy=policy, said=number + 1)
        segments = now.prompt.segments
        files = {one.source: one for one in segments if one.section is Section.FILES and one.source}
        diffs = {
            one.source: one for one in segments if one.section is Section.CHANGED and one.source
        }
        current = {
            one.source: one
            for one in now.plain.segments
            if one.section is Section.FILES and one.source
        }
        assert files.keys() == content.keys()
        assert tuple(path for path in files if path in diffs) == now.ordered.older
        for path, one in files.items():
            if path in diffs:
                assert diffs[path] == changed_segment(one.text, current[path])
            else:
                assert one == current[path]
        others = [one for one in segments if one.section is Section.HISTORY]
        assert others == [one for one in now.plain.segments if one.section is Section.HISTORY]
        assert len(segments) == len(now.tokens)
        total = count_prompt(now.plain).document
        assert sum(now.tokens) == count_prompt(now.prompt).document
        assert now.ordered.prompt == HashedPrompt.of(now.prompt, now.tokens)
        assert now.ordered.extra <= LARGEST * total + 40  # the section's heading
        assert turn(content, now, policy=policy, said=number + 1).prompt == now.prompt
        last = now


def with_remainder(prompt: Prompt, text: str) -> Prompt:
    """Return a prompt that says behind its files what is not shown."""
    place = sum(segment.section is Section.FILES for segment in prompt.segments)
    note = Segment(Section.FILES, f"### Not shown\n\n{text}", Stability.VOLATILE)
    return Prompt((*prompt.segments[:place], note, *prompt.segments[place:]))


def fitted_order(
    prompt: Prompt, earlier: CachedPrompt | None, grown: frozenset[str]
) -> OrderedPrompt:
    """Put a prompt with a budget in order."""
    hashed = HashedPrompt.of(prompt, count_prompt(prompt).segments)
    return order_for_sending(hashed, PREFIX, earlier=earlier, changes={}, count=count, grown=grown)


def as_sent(ordered: OrderedPrompt) -> CachedPrompt:
    """Return a prompt as the last one that was sent."""
    texts = ("", *(one.text for one in ordered.prompt.prompt.segments))
    return CachedPrompt(ordered.prompt.fingerprint, texts.__getitem__)


def places(ordered: OrderedPrompt) -> list[str]:
    """Return what stands where, up to the discussion."""
    shown = (part for part in ordered.prompt.segments if part.section is not Section.HISTORY)
    return [
        f"{part.path or part.segment.text.split(chr(10))[0]}{'*' * (part.section is Section.CHANGED)}"
        for part in shown
    ]


def test_what_is_not_shown_stands_behind_all_that_may_stay() -> None:
    """New files and diffs stand before it, so that it ends nothing that a cache holds (rules B-7 and B-9)."""
    first = fitted_order(with_remainder(prompt_of(CONTENT), "three"), None, frozenset())
    assert places(first)[-1] == "### Not shown"
    earlier = as_sent(first)
    grown = CONTENT | {"b.py": CONTENT["b.py"] + "b.py more\n", "d.py": "d\n"}
    second = fitted_order(with_remainder(prompt_of(grown), "two"), earlier, frozenset({"b.py"}))
    kept = places(first)[:-1]
    assert places(second) == [*kept, "d.py", "## Files (Changed)*", "b.py*", "### Not shown"]


def test_what_a_question_adds_stands_behind_its_discussion() -> None:
    """Files and earlier turns stay where they were sent; diffs and new files stand before the question (rule B-9)."""
    first = fitted_order(prompt_of(CONTENT), None, frozenset())
    earlier = as_sent(first)
    more = CONTENT | {"b.py": CONTENT["b.py"] + "b.py more\n", "d.py": "d\n"}
    second = fitted_order(prompt_of(more, said=3), earlier, frozenset(CONTENT))
    sections = [part.section for part in second.prompt.segments]
    start = sections.index(Section.CHANGED)
    assert set(sections[start:-1]) == {Section.CHANGED}
    assert sections[start - 1] is sections[-1] is Section.HISTORY
    now = tuple(part.hash.digest for part in second.prompt.segments)
    before = first.prompt.fingerprint.digests[1:]
    assert now[: len(before)] == before
    assert second.older == ("b.py",)


def test_a_file_that_shows_less_does_not_stay_as_it_was() -> None:
    """A diff would say that its lines were deleted, so it and all behind it are written as they are now (rule B-9)."""
    first = fitted_order(prompt_of(CONTENT), None, frozenset())
    earlier = as_sent(first)
    less = CONTENT | {"b.py": "".join(CONTENT["b.py"].splitlines(keepends=True)[:115])}
    assert fitted_order(prompt_of(less), earlier, frozenset({"a.py", "c.py"})).older == ()
    assert fitted_order(prompt_of(less), earlier, frozenset(CONTENT)).older == ("b.py",)


def test_a_file_that_showed_hardly_anything_stands_behind_as_a_whole() -> None:
    """Where a diff would be longer than the block, the block itself stands there (rule B-9)."""
    first = fitted_order(
        prompt_of({"a.py": "a line\n", "b.py": CONTENT["b.py"]}), None, frozenset()
    )
    earlier = as_sent(first)
    more = {"a.py": "".join(f"{n}\n" for n in range(40)), "b.py": CONTENT["b.py"]}
    second = fitted_order(prompt_of(more), earlier, frozenset({"a.py", "b.py"}))
    (whole,) = (
        part.segment.text
        for part in second.prompt.segments
        if part.section is Section.CHANGED and part.path
    )
    assert whole == file_block("a.py", more["a.py"])


@pytest.mark.parametrize("is_carried_on", [True, False])
def test_a_record_does_not_say_how_long_an_older_version_is(is_carried_on: bool) -> None:
    """What stays of the last prompt is counted anew: its record may have come with the project (C-6)."""
    first = turn(CONTENT)
    segments = first.ordered.prompt.fingerprint.segments
    forged = PromptFingerprint(tuple(replace(segment, tokens=0) for segment in segments))
    texts = ("", *(segment.text for segment in first.prompt.segments))
    plain = prompt_of(CONTENT | {"c.py": body("c.py", 240, 1)}, said=2 if is_carried_on else 1)
    earlier = CachedPrompt(forged, texts.__getitem__, None if is_carried_on else ())
    ordered = order(plain, PREFIX if is_carried_on else NO_CACHE, earlier=earlier)
    assert ordered.prompt.tokens == count_prompt(ordered.prompt.prompt).document
