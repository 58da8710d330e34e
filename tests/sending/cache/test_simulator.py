"""What is planned, read and written by each provider's policy, and for how long; and what two prompts share."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from genai_prices import Usage as Priced, calc_price, data
from hypothesis import given, strategies as st

from aggregate import Prompt, Usage
from aggregate.sending.cache import (
    EarlierRequest,
    HashedPrompt,
    SimulatedCache,
    block_prefixes,
    charge,
    compare_prefixes,
    lost_share,
    plan_request,
)
from aggregate.sending.known_models import AS_OF, known_model
from aggregate.sending.models import CacheLookup, CachePolicy
from tests.fakes.prompts import State, discussions, part, run_through, state

MARKS = CachePolicy(
    CacheLookup.BREAKPOINTS, max_breakpoints=4, look_back=20, minimum=1024, write=1.25
)
PREFIX = CachePolicy(CacheLookup.PREFIX, step=128)
NONE = CachePolicy(CacheLookup.NONE)


def plan_lines(turn: State, policy: CachePolicy, **more: str) -> str:
    """Return a plan as text: a line for each block, ``|`` behind breakpoints."""
    plan = turn.plan(policy, **more)
    return "\n".join(
        f"{one.role.value} {one.tokens} {one.text!r}{' |' * one.has_breakpoint}"
        for one in plan.blocks
    )


def test_a_plan_shown_whole() -> None:
    """The system prompt, the files, the discussion, the message; the last excerpt carries a breakpoint, the message none."""
    turn = state({"a.py": ("A", 2000), "b.py": ("B", 3000)}, [("hello", 20)])
    assert plan_lines(turn, MARKS, system="Be brief.", message="Why?") == "\n".join(
        (
            "system 10 'Be brief.'",
            "document 2003 '## Files\\n\\n### `a.py`\\n\\nA' |",
            "document 3000 '\\n\\n### `b.py`\\n\\nB' |",
            "document 4 '\\n\\n## Discussion History'",
            "user 20 '\\n\\n### Discussion Excerpt 1\\n\\nhello' |",
            "message 7 '\\n\\nWhy?'",
        )
    )


@pytest.mark.parametrize("policy", [PREFIX, NONE])
def test_without_marks_only_turns_are_cut(policy: CachePolicy) -> None:
    """Caches that find any prefix, and none at all, need no cuts but those between who speaks."""
    turn = state({"a.py": ("A", 2000)}, [("hello", 20), ("AI: hi", 20)])
    text = "## Files\\n\\n### `a.py`\\n\\nA\\n\\n## Discussion History"
    assert plan_lines(turn, policy, message="Why?").split("\n") == [
        f"document 2007 '{text}'",
        "user 20 '\\n\\n### Discussion Excerpt 1\\n\\nhello'",
        "assistant 20 '\\n\\n### Discussion Excerpt 2\\n\\nAI: hi'",
        "message 7 '\\n\\nWhy?'",
    ]


@given(discussions())
def test_stable_blocks_do_not_move(turns: list[State]) -> None:
    """A turn that only adds to the discussion begins with the very blocks of the turn before it."""
    added = tuple(
        part("history", f"### more {n}", f"more {n}", stability="volatile") for n in range(3)
    )
    for turn in turns:
        more = State(Prompt(turn.prompt.segments + added), (*turn.tokens, 9, 9, 9))
        before, after = (plan for plan, _ in run_through([turn, more], MARKS))
        texts = [block.text for block in before.blocks] if before.layout.breakpoints else []
        assert [block.text for block in after.blocks][: len(texts)] == texts


@pytest.mark.parametrize(
    ("provider", "model", "caching", "minimum", "read"),
    [
        ("anthropic", "claude-sonnet-5", CacheLookup.BREAKPOINTS, 1024, 0.1),
        ("anthropic", "claude-opus-4-5-20251101", CacheLookup.BREAKPOINTS, 4096, 0.1),
        ("anthropic", "claude-opus-5-5", CacheLookup.BREAKPOINTS, 512, 0.05),
        ("anthropic", "unheard-of", CacheLookup.BREAKPOINTS, 4096, 0.1),
        ("openai", "gpt-5", CacheLookup.PREFIX, 1024, 0.1),
        ("openai", "gpt-5.6-mini", CacheLookup.BREAKPOINTS, 1024, 0.1),
        ("gemini", "gemini-3.5-flash", CacheLookup.PREFIX, 4096, 0.1),
        ("deepseek", "deepseek-flash", CacheLookup.PREFIX, 64, 0.02),
        ("minimax", "MiniMax-M2.7", CacheLookup.BREAKPOINTS, 512, 0.2),
        ("compatible", "claude-sonnet-5", CacheLookup.PREFIX, 1, 0.1),
        ("unheard-of", "x", CacheLookup.NONE, 1024, 1.0),
    ],
)
def test_rules(provider: str, model: str, caching: CacheLookup, minimum: int, read: float) -> None:
    """The longest beginning of a model's name decides; an unknown model gets its provider's strictest rule."""
    policy = known_model(provider, model).cache
    assert (policy.lookup, policy.minimum, policy.read) == (caching, minimum, read)


def test_no_breakpoint_stands_behind_what_is_replaced_each_turn() -> None:
    """What one question adds behind the discussion is not written to a cache, and what stands before it is (B-9)."""
    text = "word " * 3_000
    prompt = Prompt(
        (
            part("files", f"### File a.py\n\n{text}", "a.py"),
            part("history", "### Discussion Excerpt 1\n\nUser: One?", stability="slow"),
            part("changed", f"### File b.py\n\n{text}", "b.py", stability="volatile"),
            part("history", "### Discussion Excerpt 2\n\nUser: Two?", stability="slow"),
        )
    )
    tokens = [3_010, 10, 3_010, 10]
    policy = known_model("anthropic", "claude-sonnet-5").cache
    plan = plan_request(HashedPrompt.of(prompt, tokens), policy, before=EarlierRequest(replaced=3))
    assert plan.layout.breakpoints[-1] == 3
    without = plan_request(HashedPrompt.of(prompt, tokens), policy)
    assert without.layout.breakpoints[-1] == 5


FILES = {"a.py": ("A", 2000), "b.py": ("B", 3000)}


def two_turns(first: State, second: State, policy: CachePolicy, *, pause: float = 60.0) -> Usage:
    """Return what the second of two turns is charged."""
    before = first.plan(policy)
    _, cache = charge(before, SimulatedCache())
    return charge(second.plan(policy, earlier=before.layout), cache, at=pause)[0]


@pytest.mark.parametrize(
    ("policy", "usage"),
    [
        (MARKS, Usage(0, 40, 5027)),
        (PREFIX, Usage(5067 - 4992, 0, 4992)),
        (CachePolicy(CacheLookup.NONE), Usage(5067)),
        (known_model("deepseek", "deepseek-flash").cache, Usage(5067 - 4992, 0, 4992)),
    ],
)
def test_a_second_turn_reads_the_first(policy: CachePolicy, usage: Usage) -> None:
    """What was sent before is read, up to the provider's step; only what was added is written or fresh."""
    first, second = state(FILES, [("hello", 20)]), state(FILES, [("hello", 20), ("hi", 40)])
    assert two_turns(first, second, policy) == usage


def test_an_entry_dies_of_age() -> None:
    """Five minutes after its last use an entry is gone; a use renews it."""
    turns = [state(FILES, [("hello", 20)] * n) for n in range(1, 4)]
    assert two_turns(turns[0], turns[1], MARKS, pause=300).cache_read == 5027
    assert two_turns(turns[0], turns[1], MARKS, pause=301).cache_read == 0
    first = turns[0].plan(MARKS)
    _, cache = charge(first, SimulatedCache())
    second = turns[1].plan(MARKS, earlier=first.layout)
    _, cache = charge(second, cache, at=250)
    assert charge(turns[2].plan(MARKS, earlier=second.layout), cache, at=500)[0].cache_read == 5047


def test_many_new_excerpts_are_bridged() -> None:
    """A turn that adds more blocks than the look-back sets a breakpoint where the last one stood."""
    first, second = (
        state(FILES, [("hello", 20)]),
        state(FILES, [("hello", 20)] + [(f"{n}", 10) for n in range(60)]),
    )
    assert two_turns(first, second, MARKS) == Usage(0, 600, 5027)


def by_the_book(plans: list[Any], *, pause: float) -> list[int]:
    """Return the tokens that each request reads, by the documentation's words and without any cleverness.

    Every breakpoint writes its prefix; a breakpoint finds an entry at its own place or at one of the blocks before it,
    as many as the look-back says, itself included; the longest entry that is found is read.
    """
    entries: dict[str, float] = {}
    reads = []
    for number, plan in enumerate(plans):
        now, found = number * pause, 0
        places = list(block_prefixes(plan.layout))
        for index, (end, _) in enumerate(places):
            if end in plan.layout.breakpoints:
                for back_end, prefix in places[
                    max(0, index - plan.policy.look_back + 1) : index + 1
                ]:
                    alive = prefix in entries and now - entries[prefix] <= plan.policy.seconds
                    if alive and plan.tokens[back_end - 1] >= plan.policy.minimum:
                        found = max(found, plan.tokens[back_end - 1])
        for end, prefix in places:
            old = entries.get(prefix, -1e9) >= now - plan.policy.seconds
            if (
                end in plan.layout.breakpoints and (old or plan.tokens[end - 1] > found)
            ) or plan.tokens[end - 1] == found:
                entries[prefix] = now
        reads.append(found)
    return reads


LOOKS_BACK = [MARKS, replace(MARKS, look_back=1, minimum=512), known_model("minimax", "x").cache]
OTHERS = [
    PREFIX,
    NONE,
    *(
        known_model(*model).cache
        for model in (("gemini", "x"), ("deepseek", "x"), ("openai", "gpt-5.6"))
    ),
]


@given(discussions())
def test_every_token_is_charged_once(turns: list[State]) -> None:
    """Tokens add up, a known prefix alone is read, as far as the policy's words allow, and as was forecast.

    Text and tokens are the prompt's; breakpoints are few enough, stand where blocks end, above the minimum.
    """
    for policy in (*LOOKS_BACK, *OTHERS):
        done, longest = run_through(turns, policy), 0
        for turn, (plan, usage) in zip(turns, done, strict=True):
            assert plan.text == turn.prompt.markdown
            assert plan.total == sum(turn.tokens) == sum(block.tokens for block in plan.blocks)
            marks, ends = plan.layout.breakpoints, plan.layout.ends
            assert sum(one.has_breakpoint for one in plan.blocks) == len(marks)
            assert len(marks) <= policy.max_breakpoints
            assert all(plan.tokens[mark - 1] >= policy.minimum for mark in marks)
            assert set(marks) <= set(ends)
            assert list(ends) == sorted(set(ends))
            assert usage.input == plan.total
            assert min(usage.fresh, usage.cache_write, usage.cache_read) >= 0
            assert usage.cache_read <= longest
            assert usage.cache_read % policy.step == 0
            longest = max(longest, plan.total)
        if policy in LOOKS_BACK:
            plain = by_the_book([plan for plan, _ in done], pause=60.0)
            assert [usage.cache_read for _, usage in done] == plain
        if len(done) > 1:
            cache = SimulatedCache.after(done[0][0].layout, age=60.0)
            assert charge(done[1][0], cache)[0] == done[1][1]


MAKERS = {
    "anthropic": ("anthropic", "claude"),
    "openai": ("openai", "gpt|o[0-9]|codex"),
    "google": ("gemini", "gemini-"),
    "deepseek": ("deepseek", "deepseek"),
    "minimax": ("minimax", "minimax"),
}
NO_TEXT = re.compile("image|audio|realtime|video|tts|live|oss")


def shares() -> Iterator[tuple[str, str, float, float]]:
    """Yield provider, model, and the price of a read and of a written token for each model with a price for reads."""
    day = datetime.fromisoformat(f"{AS_OF}T12:00:00+00:00")  # prices have dates, and hours
    amounts = [{}, {"cache_read_tokens": 1_000_000}, {"cache_write_tokens": 1_000_000}]
    for listed in data.providers:
        provider, names = MAKERS.get(listed.id, ("", "$"))
        for model in listed.models:
            if not re.match(names, model.id.lower()) or NO_TEXT.search(model.id):
                continue
            usages = (Priced(input_tokens=1_000_000, **amount) for amount in amounts)
            prices = [
                calc_price(one, model.id, provider_id=listed.id, genai_request_timestamp=day)
                for one in usages
            ]
            full, read, write = (float(price.total_price) for price in prices)
            if read < full:
                yield provider, model.id, read / full, write / full


def test_rules_and_prices_agree() -> None:
    """What is planned for and what is charged are the same shares of a token's price, for each model that is listed."""
    found = {}
    for provider, model, read, write in shares():
        policy = known_model(provider, model).cache
        found[model] = [policy.read, policy.write] == pytest.approx([read, write], abs=0.01)
    assert [model for model, same in found.items() if not same] == []
    assert len(found) > 60
    assert "deepseek-chat" in found


POLICY = known_model("anthropic", "claude-sonnet-5").cache
LONG_FILES = {"a.py": ("a", 30_000), "b.py": ("b", 30_000)}
QUICK, SLOW = (60.0,) * 20, (600.0,) * 20


def plan_of(
    turn: State,
    after: Any | None = None,
    *,
    takes_hours: bool = True,
    pauses: tuple[float, ...] = (),
    age: float = 60.0,
) -> Any:
    return plan_request(
        HashedPrompt.of(turn.prompt, turn.tokens),
        POLICY,
        before=EarlierRequest(after.layout if after else None, age, takes_hours, pauses),
    )


def turn(number: int) -> State:
    """Return the prompt of a turn of a discussion about two files."""
    return state(LONG_FILES, [(f"said {n}", 500) for n in range(2 * number + 1)])


def test_a_share_begins_with_what_people_do() -> None:
    """A quarter of all pauses are longer than five minutes and no hour; then what was seen counts (C-2)."""
    assert lost_share((), POLICY) == 0.25
    assert lost_share(QUICK, POLICY) < 0.05
    assert lost_share(SLOW, POLICY) > 0.85
    assert lost_share((7200.0,) * 20, POLICY) < 0.05
    assert lost_share((*SLOW, *QUICK[:1] * 20), POLICY) == lost_share(QUICK[:1] * 20, POLICY)


@pytest.mark.parametrize(
    ("takes_hours", "pauses", "lifetimes"),
    [(True, (), {3600}), (True, SLOW, {3600}), (True, QUICK, {300}), (False, SLOW, {300})],
)
def test_the_first_request(
    takes_hours: bool, pauses: tuple[float, ...], lifetimes: set[int]
) -> None:
    """Files earn an hour unless all is known to go quickly (C-2)."""
    plan = plan_of(turn(0), takes_hours=takes_hours, pauses=pauses)
    marked = [block for block in plan.blocks if block.has_breakpoint]
    assert {block.lifetime for block in marked} == set(plan.layout.lifetimes) == lifetimes


def test_a_quick_discussion_writes_what_it_adds_for_five_minutes() -> None:
    """The files' entry lives for an hour still, since its breakpoint is set again in front of the shorter-lived ones."""
    first = plan_of(turn(0))
    second = plan_of(turn(1), first, pauses=QUICK)
    third = plan_of(turn(2), second, pauses=QUICK)
    assert second.layout.lifetimes[-1] == third.layout.lifetimes[-1] == 300
    assert third.layout.lifetimes[:-1] == (3600,) * (len(third.layout.lifetimes) - 1)
    cache = SimulatedCache()
    for number, plan in enumerate((first, second, third)):
        usage, cache = charge(plan, cache, at=60.0 * number)
    assert usage == Usage(0, 1000, third.total - 1000)
    usage, _ = charge(plan_of(turn(3), third, pauses=SLOW, age=1200.0), cache, at=1320.0)
    assert usage.cache_read == first.total  # all that was written for an hour
    assert usage.cache_write == usage.cache_write_long > 2000
    again = plan_of(turn(0), takes_hours=False)
    _, cache = charge(first, SimulatedCache())
    _, cache = charge(again, cache, at=60.0)
    usage, _ = charge(again, cache, at=1260.0)
    assert usage == Usage(0, 0, first.total)  # to be read for five minutes makes it no shorter


def test_nothing_lives_longer_than_what_it_is_built_on() -> None:
    """Behind a shorter-lived entry no hour is paid for, and the simulator believes in none."""
    first = plan_of(turn(0), takes_hours=False)
    second = plan_of(turn(1), first, pauses=SLOW)
    assert set(second.layout.lifetimes) == {300}


@given(discussions(), st.lists(st.sampled_from([60.0, 400.0, 4000.0]), min_size=8, max_size=8))
def test_longer_lifetimes_stand_before_shorter_ones(turns: list[State], ages: list[float]) -> None:
    """In every request, as providers want it; what the plan expects is what a cache that was there all along charges."""
    cache, last, now = SimulatedCache(), None, 0.0
    pauses: tuple[float, ...] = ()
    for number, state_ in enumerate(turns):
        if number:
            now += ages[number - 1]
            pauses = (*pauses, ages[number - 1])
        plan = plan_of(state_, last, pauses=pauses, age=ages[number - 1] if number else 0.0)
        lifetimes = list(plan.layout.lifetimes)
        assert lifetimes == sorted(lifetimes, reverse=True)
        assert len(lifetimes) == len(plan.layout.breakpoints) <= POLICY.max_breakpoints
        usage, cache = charge(plan, cache, at=now)
        assert usage.input == plan.total
        assert 0 <= usage.cache_write_long <= usage.cache_write
        if last:
            age = ages[number - 1]
            alone = charge(plan, SimulatedCache.after(last.layout, age=age))[0]
            assert alone.cache_read <= usage.cache_read
        last = plan


SHORT_FILES = {"a.py": ("A", 10), "b.py": ("B", 20), "c.py": ("C", 40)}
SAID = [("hello", 5)]
BASE = state(SHORT_FILES, SAID)


def fingerprint(of: State, system: str = "") -> Any:
    return HashedPrompt.of(of.prompt, of.tokens, system=system, system_tokens=2 * bool(system))


def reordered() -> State:
    return state(
        {"b.py": SHORT_FILES["b.py"], "a.py": SHORT_FILES["a.py"], "c.py": SHORT_FILES["c.py"]},
        SAID,
    )


@pytest.mark.parametrize(
    ("later", "kept", "where"),
    [
        (BASE, 82, ""),
        (state(SHORT_FILES, [*SAID, ("more", 7)]), 82, ""),
        (state(SHORT_FILES, []), 73, "the heading of history"),
        (state({**SHORT_FILES, "b.py": ("B2", 21)}, SAID), 13, "b.py"),
        (state({**SHORT_FILES, "b.py": ("B2", 21), "c.py": ("C2", 1)}, SAID), 13, "b.py"),
        (state({"a.py": ("A", 10), "aa.py": ("N", 9), **SHORT_FILES}, SAID), 13, "aa.py"),
        (state({"a.py": ("A", 10), "c.py": ("C", 40)}, SAID), 13, "b.py"),
        (reordered(), 3, "a.py"),
        (state(SHORT_FILES, [("other", 5)]), 77, "Excerpt 1"),
    ],
)  # fmt: skip
def test_what_ends_the_prefix(later: State, kept: int, where: str) -> None:
    """The tokens of the shared prefix, and the first segment that differs."""
    report = compare_prefixes(fingerprint(BASE), fingerprint(later))
    assert (report.shared, report.where) == (kept, where)


def test_a_diff_names_the_file_that_changed() -> None:
    """Where the section of changed files comes, goes, or has another diff, a file has changed, and that one is named."""
    diffs = [part("changed", f"### {name}", name) for name in ("", "b.py", "c.py")]
    none, one, two = (
        HashedPrompt.of(
            Prompt((*BASE.prompt.segments[:4], *diffs[:n], *BASE.prompt.segments[4:])),
            [5] * (6 + n),
        )
        for n in (0, 2, 3)
    )
    for earlier, later, where in (
        (none, one, "b.py"),
        (one, two, "c.py"),
        (two, one, "c.py"),
        (one, none, "b.py"),
    ):
        report = compare_prefixes(earlier, later)
        assert report.where == where
