"""The cache plan: which blocks a request has, and where its breakpoints stand."""

import pytest
from hypothesis import given

from aggregate import Prompt
from aggregate.sending.cache import HashedPrompt, plan_request
from aggregate.sending.cache.policy import CacheLookup, CachePolicy, policy_for
from tests.fakes.prompts import State, discussions, part, run_through, state

MARKS = CachePolicy(
    CacheLookup.BREAKPOINTS, max_breakpoints=4, look_back=20, minimum=1024, write=1.25
)
PREFIX = CachePolicy(CacheLookup.PREFIX, step=128)
NONE = CachePolicy(CacheLookup.NONE)
ALL = (MARKS, CachePolicy(CacheLookup.BREAKPOINTS, max_breakpoints=4, look_back=1), PREFIX, NONE)


def shown(turn: State, policy: CachePolicy, **more: str) -> str:
    """Return a plan as text: a line for each block, ``|`` behind breakpoints."""
    plan = turn.plan(policy, **more)
    return "\n".join(
        f"{one.role.value} {one.tokens} {one.text!r}{' |' * one.has_breakpoint}"
        for one in plan.blocks
    )


def test_a_plan_shown_whole() -> None:
    """The system prompt, the files, the discussion, the message; the last excerpt carries a breakpoint, the message none."""
    turn = state({"a.py": ("A", 2000), "b.py": ("B", 3000)}, [("hello", 20)])
    assert shown(turn, MARKS, system="Be brief.", message="Why?") == "\n".join(
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
    assert shown(turn, policy, message="Why?").split("\n") == [
        f"document 2007 '{text}'",
        "user 20 '\\n\\n### Discussion Excerpt 1\\n\\nhello'",
        "assistant 20 '\\n\\n### Discussion Excerpt 2\\n\\nAI: hi'",
        "message 7 '\\n\\nWhy?'",
    ]


@given(discussions())
def test_the_blocks_are_the_prompt_and_breakpoints_keep_the_rules(turns: list[State]) -> None:
    """Text and tokens are the prompt's; breakpoints are few enough, stand where blocks end, above the minimum."""
    for policy in ALL:
        for turn, (plan, _) in zip(turns, run_through(turns, policy), strict=True):
            assert plan.text == turn.prompt.markdown
            assert plan.total == sum(turn.tokens) == sum(block.tokens for block in plan.blocks)
            marks, ends = plan.layout.breakpoints, plan.layout.ends
            assert sum(one.has_breakpoint for one in plan.blocks) == len(marks)
            assert len(marks) <= policy.max_breakpoints
            assert all(plan.tokens[mark - 1] >= policy.minimum for mark in marks)
            assert set(marks) <= set(ends)
            assert list(ends) == sorted(set(ends))


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
        ("compatible", "claude-sonnet-5", CacheLookup.PREFIX, 1, 1.0),
        ("unheard-of", "x", CacheLookup.NONE, 1024, 1.0),
    ],
)
def test_rules(provider: str, model: str, caching: CacheLookup, minimum: int, read: float) -> None:
    """The longest beginning of a model's name decides; an unknown model gets its provider's strictest rule."""
    policy = policy_for(provider, model)
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
    policy = policy_for("anthropic", "claude-sonnet-5")
    plan = plan_request(HashedPrompt.of(prompt, tokens), policy, replaced=3)
    assert plan.layout.breakpoints[-1] == 3
    without = plan_request(HashedPrompt.of(prompt, tokens), policy)
    assert without.layout.breakpoints[-1] == 5
