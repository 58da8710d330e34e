"""How long entries live: by the pauses of a discussion, within the providers' rules."""

import pytest
from hypothesis import given, strategies as st

from aggregate import Usage
from aggregate.sending.cache import HashedPrompt, SimulatedCache, charge, plan_request
from aggregate.sending.cache.breakpoints import CacheLifetime, Pauses, WrittenStretch, count_long
from aggregate.sending.cache.policy import policy_for
from aggregate.sending.cache.request_plan import RequestPlan
from tests.sending.cache.prompts import State, discussions, state

POLICY = policy_for("anthropic", "claude-sonnet-5")
FILES = {"a.py": ("a", 30_000), "b.py": ("b", 30_000)}
QUICK, SLOW = Pauses((60.0,) * 20), Pauses((600.0,) * 20)


def plan_of(
    turn: State,
    after: RequestPlan | None = None,
    *,
    lifetime: CacheLifetime = CacheLifetime.AUTO,
    pauses: Pauses | None = None,
    age: float = 60.0,
) -> RequestPlan:
    """Plan a turn behind another one."""
    return plan_request(
        HashedPrompt.of(turn.prompt, turn.tokens),
        POLICY,
        earlier=after.layout if after else None,
        age=age,
        lifetime=lifetime,
        pauses=pauses or Pauses(),
    )


def turn(number: int) -> State:
    """Return the prompt of a turn of a discussion about two files."""
    return state(FILES, [(f"said {n}", 500) for n in range(2 * number + 1)])


def test_a_share_begins_with_what_people_do() -> None:
    """A quarter of all pauses are longer than five minutes, hardly one is longer than an hour; then what was seen counts."""
    assert 0.23 < Pauses().share(300, 3600) < 0.26
    assert Pauses().share(3600, 10**9) < 0.01
    assert QUICK.share(300, 3600) < 0.05
    assert SLOW.share(300, 3600) > 0.85
    assert Pauses((1.0, 2.0)).then(3.0).seconds == (1.0, 2.0, 3.0)
    assert Pauses((1.0,) * 20).then(3.0).seconds == (*(1.0,) * 19, 3.0)


@pytest.mark.parametrize(
    ("lifetime", "pauses", "lifetimes"),
    [
        (CacheLifetime.AUTO, Pauses(), {3600}),
        (CacheLifetime.AUTO, SLOW, {3600}),
        (CacheLifetime.AUTO, QUICK, {300}),
        (CacheLifetime.SHORT, SLOW, {300}),
        (CacheLifetime.LONG, QUICK, {3600}),
    ],
)
def test_the_first_request(lifetime: CacheLifetime, pauses: Pauses, lifetimes: set[int]) -> None:
    """Files earn an hour unless all is known to go quickly; what the user wants goes before."""
    plan = plan_of(turn(0), lifetime=lifetime, pauses=pauses)
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


def test_nothing_lives_longer_than_what_it_is_built_on() -> None:
    """Behind a shorter-lived entry no hour is paid for, and the simulator believes in none."""
    first = plan_of(turn(0), lifetime=CacheLifetime.SHORT)
    second = plan_of(turn(1), first, lifetime=CacheLifetime.LONG)
    assert set(second.layout.lifetimes) == {300}
    stretch = WrittenStretch(1000, [2000], is_long_before=False, fallback=0, growth=100)
    assert count_long(stretch, POLICY, CacheLifetime.LONG, SLOW) == 0


@given(discussions(), st.lists(st.sampled_from([60.0, 400.0, 4000.0]), min_size=8, max_size=8))
def test_longer_lifetimes_stand_before_shorter_ones(turns: list[State], ages: list[float]) -> None:
    """In every request, as providers want it; what the plan expects is what a cache that was there all along charges."""
    cache, last, now = SimulatedCache(), None, 0.0
    pauses = Pauses()
    for number, state_ in enumerate(turns):
        if number:
            now += ages[number - 1]
            pauses = pauses.then(ages[number - 1])
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
