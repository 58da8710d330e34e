"""Which tool a step needs: by its words where these leave no doubt, else by the model (rule P2).

A wrong tool costs more than a question: words decide only where nothing speaks against it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.agents.goals import replies
from aggregate.agents.goals.formatting import clip
from aggregate.agents.goals.goal_context import Branch, GoalContext, ToolChoice
from aggregate.agents.goals.heuristics import STOP, significant_words, words
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.goals.replies import choice_schema
from aggregate.agents.tools import ANALYSIS, Tool, ToolRegistry
from aggregate.base.text import fence

LEAST_WORDS: Final = 2
"""Distinct words of a step that a tool must know, one of them from its description or parameters.

One word is mostly the verb, and a verb alone fits tools that do it to something else.
"""
LEAD: Final = 1.5
"""How many times better than the next the best must fit."""
_TURNING: Final = frozenset(["not", "no", "never", "without", "except", "instead", "rather", "but"])
"""Words that turn a step into something else than what its other words say."""
_PARTICLES: Final = frozenset(["on", "off", "up", "down", "out", "over", "back", "away"])
"""Words that change a verb: to turn on is not to turn off."""
_FILLERS: Final = STOP - _TURNING - _PARTICLES
_QUOTED: Final = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'|`[^`]*`")
_VALUE: Final = re.compile(r"\S*[\d/@{}]\S*|\b\w+\.\w\S*")
"""What stands for itself in a step: numbers, dates, ids, addresses, paths, names of files, fields in braces."""


@dataclass(frozen=True, slots=True)
class _ToolMatch:
    """What a step and a tool have in common; ``sure`` where nothing in the words speaks against the tool."""

    tool: Tool
    score: float
    words: frozenset[str]
    sure: bool


def ranked_tools(step: str, tools: Sequence[Tool]) -> list[_ToolMatch]:
    """Return the tools, the best match first, those that fit alike in their order."""
    known = {
        tool.name: frozenset(words(f"{tool.name} {_described(tool)}")) - _FILLERS for tool in tools
    }
    spread = Counter(word for vocabulary in known.values() for word in vocabulary)
    said = step_words(step)
    matches = []
    for tool in tools:
        common = [word for word in dict.fromkeys(said) if word in known[tool.name]]
        score = sum(
            1 / spread[word] for word in common
        )  # a word counts less the more tools know it
        matches.append(_ToolMatch(tool, score, frozenset(common), _is_sure(said, tool, common)))
    return sorted(matches, key=lambda match: (-match.score, -len(match.words)))


def certain_tool(ranked: Sequence[_ToolMatch]) -> Tool | None:
    """Return the tool that the words of a step mean beyond doubt, ``None`` where there is any."""
    if not ranked or not ranked[0].sure:
        return None
    if len(ranked) > 1 and ranked[0].score < LEAD * ranked[1].score:
        return None
    return ranked[0].tool


def step_words(step: str) -> list[str]:
    """Return the words of a step that say what is to be done, without the values that it is done with."""
    plain = _VALUE.sub(" ", _QUOTED.sub(" ", step))
    return [word for word in words(plain) if word not in _FILLERS]


def _is_sure(said: Sequence[str], tool: Tool, common: Sequence[str]) -> bool:
    """Return whether the tool knows every word of the step, its verb as what the tool does, and some twice over."""
    described = set(words(_described(tool)))
    # What a tool does: the first word of its name and that of its description.
    verbs = {named[0] for text in (tool.name, tool.description) if (named := words(text))}
    return (
        len(common) >= LEAST_WORDS
        and len(common) == len(set(said))
        and not described.isdisjoint(common)
        and said[0] in verbs
        and _TURNING.isdisjoint(said)
    )


def _described(tool: Tool) -> str:
    texts = (f"{parameter.name} {parameter.description}" for parameter in tool.parameters)
    return " ".join((tool.description, *texts))


CANDIDATES: Final = 10
"""Tools to choose from in one question, which then stays below 400 tokens."""
MOST_CANDIDATES: Final = 60
"""Tools to choose from in all questions for one step."""
NOT_CHOSEN: Final = "no tool was chosen: the model named none of those that it was shown"
_NAMES: Final = 24
"""Names of tools that follow in the next question: as many as the question for the steps names."""
_TIMES: Final = 2
"""How often a question is asked whose answer cannot be read."""
_DESCRIPTION_CHARACTERS: Final = 120
_NONE: Final = re.compile(r"\W*(?:none|nothing|no (?:\w+ )?tool)\b", re.IGNORECASE)


def choose_tool(
    run: GoalContext, branch: Branch, step: str, *, failed: tuple[str, ...] = (), error: str = ""
) -> ToolChoice:
    """Return what does ``step``: a tool, the model alone where no tool can, or why nothing was chosen.

    A branch for which was chosen already keeps that; a corrective one may only analyse.

    Args:
        run: The goal.
        branch: The branch that the step belongs to.
        step: What is to be done.
        failed: Names of tools that have failed at it: they are not offered again, and the model is asked.
        error: How the last of these failed.
    """
    if branch.chosen is not None and not failed:
        return branch.chosen
    if branch.corrective:
        return ToolChoice(run.tools.get(ANALYSIS) if ANALYSIS in run.tools else None)
    step = branch.deciding_text(step)
    named = _mentioned_tools(step, run.tools, several_words=True)
    if len(named) == 1 and not failed and _TURNING.isdisjoint(words(step)):
        return ToolChoice(named[0])
    ranked = ranked_tools(step, [tool for tool in run.tools if tool.name not in failed])
    if not failed and (certain := certain_tool(ranked)):
        return ToolChoice(certain)
    tools = _analysis_early([match.tool for match in ranked])
    trouble = f"{failed[-1]} has failed at it:\n{fence(clip(error, 400))}" if failed else ""
    return _asked_choice(run, branch, step, tools, trouble)


def _asked_choice(
    run: GoalContext, branch: Branch, step: str, tools: Sequence[Tool], trouble: str
) -> ToolChoice:
    if len(tools) > MOST_CANDIDATES:
        branch.node.warn(
            f'Only {MOST_CANDIDATES} of {len(tools)} tools were offered for "{clip(step, 80)}".'
        )
    offered = tools[:MOST_CANDIDATES]
    # The most likely first; the others are shown where none of these is named.
    for start in range(0, len(offered), CANDIDATES):
        shown = offered[start : start + CANDIDATES]
        names = ", ".join(tool.name for tool in offered[start + CANDIDATES :][:_NAMES])
        for _ in range(_TIMES):
            reply = run.ask(
                branch.node,
                QuestionKind.FIND_TOOL,
                step=step,
                trouble=trouble,
                tools=fence("\n".join(map(_tool_line, shown))),
                rest=f"You are shown these after NONE: {names}" if names else "",
                schema=choice_schema([tool.name for tool in shown]),
            )
            answer = _read_choice(reply, run.tools, shown)
            if answer is not None:
                break
        else:
            return ToolChoice(None, NOT_CHOSEN)
        if answer.tool is not None:
            return answer
    return ToolChoice(None)


def _read_choice(
    reply: str | None, tools: ToolRegistry, shown: Sequence[Tool]
) -> ToolChoice | None:
    """Return the choice in an answer, ``None`` where it names no tool that was shown, or several."""
    text = replies.named_text(reply or "", "tool")
    if _NONE.match(text):
        return ToolChoice(None)
    names = {tool.name for tool in shown}
    mentioned = [tool for tool in _mentioned_tools(text, tools) if tool.name in names]
    return ToolChoice(mentioned[0]) if len(mentioned) == 1 else None


def _tool_line(tool: Tool) -> str:
    """Return what a model is shown of a tool: ``getPrice(article_id: int): Get its price.``."""
    parameters = ", ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {parameter.type}"
        for parameter in tool.parameters
    )
    return f"{tool.name}({parameters}): {clip(tool.description, _DESCRIPTION_CHARACTERS)}"


def _analysis_early(tools: list[Tool]) -> list[Tool]:
    """Return the tools with analysis among those that are shown first: what is there can always be computed with."""
    early = [tool.name for tool in tools[:CANDIDATES]]
    analysis = next((tool for tool in tools if tool.name == ANALYSIS), None)
    if analysis is None or ANALYSIS in early:
        return tools
    others = [tool for tool in tools if tool is not analysis]
    return [*others[: CANDIDATES - 1], analysis, *others[CANDIDATES - 1 :]]


def _mentioned_tools(text: str, tools: ToolRegistry, *, several_words: bool = False) -> list[Tool]:
    mentioned: dict[str, Tool] = {}
    for name, tool in tools.spellings().items():
        # A name of one plain word, as ``search``, names no tool: a step may use the word.
        if several_words and len(significant_words(name)) < 2:
            continue
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
            mentioned.setdefault(tool.name, tool)
    return list(mentioned.values())
