"""Which tool a step needs: by its words, and by the model only where they do not decide (rule P2)."""

import re
from typing import Final

from aggregate.agent import reply_parsing
from aggregate.agent.formatting import clip
from aggregate.agent.goal_context import Branch, GoalContext
from aggregate.agent.heuristics import significant_words
from aggregate.agent.model import QuestionKind
from aggregate.agent.reply_schemas import choice_schema
from aggregate.tools import ANALYSIS, Tool, ToolRegistry

NAME, DESCRIPTION, VERB = 2, 1, 2
"""What a word of a step counts that is in a tool's name or description, and its first word on top."""
SURE: Final = 3
"""How many times better than the next the best must fit; its words must hold the step's verb, too."""
CANDIDATES: Final = 6


def choose_tool(run: GoalContext, branch: Branch, step: str) -> Tool | None:
    """Return the tool for ``step``, ``None`` where no tool can do it.

    A branch for which was chosen already keeps that; a corrective one may only analyse.
    """
    if branch.chosen is not None:
        return branch.chosen.tool
    if branch.corrective:
        return run.tools.get(ANALYSIS) if ANALYSIS in run.tools else None
    tools = list(run.tools)
    step = branch.wording(step)
    named = _named(step, run.tools)
    if named or not tools:
        return named
    scores = {one.name: tool_score(step, one) for one in tools}
    ranked = sorted(tools, key=lambda one: -scores[one.name])
    best = scores[ranked[0].name]
    second = scores[ranked[1].name] if len(ranked) > 1 else 0
    if _does(step, ranked[0]) and best >= SURE * max(second, 1):
        return ranked[0]
    candidates = [one for one in ranked if best == 0 or scores[one.name] * 2 >= best][:CANDIDATES]
    if ANALYSIS in run.tools and all(one.name != ANALYSIS for one in candidates):
        candidates.append(run.tools.get(ANALYSIS))
    listed = "\n".join(f"{one.name}: {clip(one.description, 90)}" for one in candidates)
    text = run.ask(
        branch.node,
        QuestionKind.FIND_TOOL,
        step=step,
        tools=listed,
        schema=choice_schema([one.name for one in candidates]),
    )
    if text is None or not text.strip():
        return ranked[0] if best else None
    return _named(reply_parsing.named_text(text, "tool"), run.tools, alone=True)


def tool_score(step: str, tool: Tool) -> int:
    """Return how well the words of a step fit a tool."""
    name, described = set(significant_words(tool.name)), set(significant_words(tool.description))
    found = significant_words(step)
    points = sum(NAME * (word in name) + DESCRIPTION * (word in described) for word in dict.fromkeys(found))
    return points + VERB * _does(step, tool)


def _does(step: str, tool: Tool) -> bool:
    """Return whether the verb of a step, its first word, is one of the tool's."""
    verb = significant_words(step)[:1]
    return bool(verb) and verb[0] in significant_words(f"{tool.name} {tool.description}")


def _named(text: str, tools: ToolRegistry, *, alone: bool = False) -> Tool | None:
    """Return the tool whose name stands in a text as a whole word, the first one where there are several.

    A name of one plain word, as ``search``, names its tool only in an answer (``alone``): a step may use the word.
    """
    places = []
    for name, tool in tools.spellings().items():
        match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
        if match and (alone or len(significant_words(name)) > 1):
            places.append((match.start(), tool))
    return min(places, key=lambda one: one[0])[1] if places else None
