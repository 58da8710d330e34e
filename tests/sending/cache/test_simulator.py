"""The cache simulator: what is read and written, by each provider's policy."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest
from genai_prices import Usage as Priced, calc_price, data
from hypothesis import given

from aggregate import Usage
from aggregate.sending.cache import SimulatedCache, charge
from aggregate.sending.cache.policy import AS_OF, CacheLookup, CachePolicy, policy_for
from aggregate.sending.cache.request_plan import RequestPlan, block_prefixes, expected_usage
from tests.sending.cache.prompts import State, discussions, run_through, state

MARKS = CachePolicy(
    CacheLookup.BREAKPOINTS, max_breakpoints=4, look_back=20, minimum=1024, write=1.25
)
PREFIX = CachePolicy(CacheLookup.PREFIX, step=128)
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
        (policy_for("deepseek", "deepseek-flash"), Usage(5067 - 4992, 0, 4992)),
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


def by_the_book(plans: list[RequestPlan], *, pause: float) -> list[int]:
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


LOOKS_BACK = [MARKS, replace(MARKS, look_back=1, minimum=512), policy_for("minimax", "x")]
OTHERS = [
    PREFIX,
    *(policy_for(*model) for model in (("gemini", "x"), ("deepseek", "x"), ("openai", "gpt-5.6"))),
]


@given(discussions())
def test_every_token_is_charged_once(turns: list[State]) -> None:
    """Tokens add up, a known prefix alone is read, as far as the policy's words allow, and as was forecast."""
    for policy in (*LOOKS_BACK, *OTHERS):
        done, longest = run_through(turns, policy), 0
        for plan, usage in done:
            assert usage.input == plan.total
            assert min(usage.fresh, usage.cache_write, usage.cache_read) >= 0
            assert usage.cache_read <= longest
            assert usage.cache_read % policy.step == 0
            longest = max(longest, plan.total)
        if policy in LOOKS_BACK:
            plain = by_the_book([plan for plan, _ in done], pause=60.0)
            assert [usage.cache_read for _, usage in done] == plain
        if len(done) > 1:
            assert expected_usage(done[1][0], done[0][0].layout, age=60.0) == done[1][1]


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
        policy = policy_for(provider, model)
        found[model] = [policy.read, policy.write] == pytest.approx([read, write], abs=0.01)
    assert [model for model, same in found.items() if not same] == []
    assert len(found) > 60
    assert "deepseek-chat" in found
