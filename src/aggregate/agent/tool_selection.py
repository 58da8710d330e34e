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

_NAME_POINTS: Final = 2
_DESCRIPTION_POINTS: Final = 1
_VERB_POINTS: Final = 2
"""What a word of a step counts that is in a tool's name or description, and its first word on top."""
CERTAIN: Final = 3
"""How many times better than the next the best must fit; its words must hold the step's verb, too.

A wrong tool costs more than a question, so the words decide only where no other tool comes near.
"""
CANDIDATES: Final = 6
"""Tools to choose from in a question, which stays short."""
_DESCRIPTION_CHARACTERS: Final = 90


def choose_tool(run: GoalContext, branch: Branch, step: str) -> Tool | None:
    """Return the tool for ``step``, ``None`` where no tool can do it.

    A branch for which was chosen already keeps that; a corrective one may only analyse.
    """
    if branch.chosen is not None:
        return branch.chosen.tool
    if branch.corrective:
        return run.tools.get(ANALYSIS) if ANALYSIS in run.tools else None
    step = branch.deciding_text(step)
    named = _named_tool(step, run.tools)
    if named or not len(run.tools):
        return named
    scores = {tool.name: tool_score(step, tool) for tool in run.tools}
    ranked = sorted(run.tools, key=lambda tool: -scores[tool.name])
    best = scores[ranked[0].name]
    second = scores[ranked[1].name] if len(ranked) > 1 else 0
    if _has_verb(step, ranked[0]) and best >= CERTAIN * max(second, 1):
        return ranked[0]
    candidates = [tool for tool in ranked if best == 0 or scores[tool.name] * 2 >= best][
        :CANDIDATES
    ]
    if ANALYSIS in run.tools and all(tool.name != ANALYSIS for tool in candidates):
        candidates.append(run.tools.get(ANALYSIS))
    reply = _ask_for_tool(run, branch, step, candidates)
    if reply is None or not reply.strip():
        return ranked[0] if best else None
    return _named_tool(reply_parsing.named_text(reply, "tool"), run.tools, is_answer=True)


def _ask_for_tool(
    run: GoalContext, branch: Branch, step: str, candidates: list[Tool]
) -> str | None:
    lines = [
        f"{tool.name}: {clip(tool.description, _DESCRIPTION_CHARACTERS)}" for tool in candidates
    ]
    return run.ask(
        branch.node,
        QuestionKind.FIND_TOOL,
        step=step,
        tools="\n".join(lines),
        schema=choice_schema([tool.name for tool in candidates]),
    )


def tool_score(step: str, tool: Tool) -> int:
    """Return how well the words of a step fit a tool."""
    name_words = set(significant_words(tool.name))
    description_words = set(significant_words(tool.description))
    score = _VERB_POINTS * _has_verb(step, tool)
    for word in dict.fromkeys(significant_words(step)):
        score += _NAME_POINTS * (word in name_words)
        score += _DESCRIPTION_POINTS * (word in description_words)
    return score


def _has_verb(step: str, tool: Tool) -> bool:
    """Return whether the verb of a step, its first word, is one of the tool's."""
    verb = significant_words(step)[:1]
    return bool(verb) and verb[0] in significant_words(f"{tool.name} {tool.description}")


def _named_tool(text: str, tools: ToolRegistry, *, is_answer: bool = False) -> Tool | None:
    """Return the tool whose name stands in a text as a whole word, the first one where there are several.

    A name of one plain word, as ``search``, names its tool only in an answer: a step may use the word.
    """
    mentions: list[tuple[int, Tool]] = []
    for name, tool in tools.spellings().items():
        match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
        if match and (is_answer or len(significant_words(name)) > 1):
            mentions.append((match.start(), tool))
    if not mentions:
        return None
    return min(mentions, key=lambda mention: mention[0])[1]
