"""Measure what a track of four roles reads from a provider's cache: instructions before the context, or behind it."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms
from aggregate.agents.tracks.assignment import Assignment
from aggregate.base.tokens import count
from aggregate.base.values import Usage
from aggregate.project.configuration import PersonaTable, Project
from aggregate.prompt import count_prompt, open_project
from aggregate.sending.cache import HashedPrompt, SimulatedCache, charge, plan_request
from aggregate.sending.cache.policy import CachePolicy, policy_for

ROLES: Final = ("analyst", "critic", "tester", "writer")
MODELS: Final = (
    ("anthropic", "claude-sonnet-5"),
    ("openai", "gpt-5.6"),
    ("gemini", "gemini-3.5-flash"),
    ("deepseek", "deepseek-flash"),
)
FOCUS: Final = (
    "src/aggregate/agents/results/merge.py",
    "src/aggregate/code/views/dispatch.py",
    "src/aggregate/prompt/layout.py",
    "",
)
"""Files of this project, one for each role; the last one focuses on nothing."""
_WORDS: Final = (
    "You are the {role} of a team of four. Answer from the files that you are shown, and name them."
)


@dataclass(frozen=True, slots=True)
class Row:
    """What a track's requests read and cost.

    Attributes:
        requests: How many.
        usage: Of all.
        price: In prices of an input token, for each token of input.
    """

    requests: int
    usage: Usage
    price: float


def assignments(project: Project, tickets: int) -> list[Assignment]:
    """Return what the workers of a track of four roles get, turn by turn."""
    personas = {role: PersonaTable(system_prompt=_WORDS.format(role=role)) for role in ROLES}
    config = project.config.model_copy(update={"personas": personas})
    terms = WorkerTerms("anthropic", "claude-sonnet-5")
    contexts = WorkerContexts(replace(project, config=config), terms=terms)
    asked = [_ticket(number) for number in range(tickets)]
    contexts.share(asked)
    return [contexts.assignment(ticket, {}, ticket.id) for ticket in asked]


def with_instructions_first(assignment: Assignment) -> Assignment:
    """Return the same request with the instructions before the context, where most programs put them."""
    _, instructions, task = assignment.message.split("\n\n", 2)
    return replace(assignment, persona=instructions, message=task)


def measure(assignments: Sequence[Assignment], policy: CachePolicy) -> Row:
    """Return what a cache reads and writes for these requests, one after the other."""
    cache, total = SimulatedCache(), Usage()
    for each in assignments:
        prompt = HashedPrompt.of(
            each.prompt,
            count_prompt(each.prompt).segments,
            system=each.persona,
            system_tokens=count(each.persona),
        )
        plan = plan_request(
            prompt, policy, message=each.message, message_tokens=count(each.message)
        )
        usage, cache = charge(plan, cache)
        total += usage
    paid = total.fresh + total.cache_write * policy.write + total.cache_read * policy.read
    return Row(len(assignments), total, paid / total.input)


def _ticket(number: int) -> Ticket:
    role, focus = ROLES[number % 4], FOCUS[number % 4]
    return Ticket(
        id=f"t{number}",
        prompt=f"Say in three sentences what matters here, for the {number + 1}. time.",
        persona=role,
        focus_files=(focus,) if focus else (),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tickets", type=int, nargs="?", default=8, help="of the track (8)")
    tickets = parser.parse_args().tickets
    behind = assignments(open_project(Path("manual_slop.toml")), tickets)
    first = [with_instructions_first(each) for each in behind]
    print(f"{'model':18} {'instructions':12} {'tokens':>9} {'read':>6} {'price':>6}")
    for provider, model in MODELS:
        policy = policy_for(provider, model)
        for place, track in (("first", first), ("behind", behind)):
            row = measure(track, policy)
            print(
                f"{model:18} {place:12} {row.usage.input:9,} {row.usage.cache_share:6.0%} {row.price:6.2f}"
            )


if __name__ == "__main__":
    main()
