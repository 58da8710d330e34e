"""How well the words of a step fit a tool, and whether they fit it alone (rule P2).

A wrong tool costs more than a question: words decide only where nothing speaks against it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from aggregate.agents.goals.heuristics import STOP, words
from aggregate.agents.tools import Tool

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
class ToolMatch:
    """What a step and a tool have in common.

    Attributes:
        tool: The tool.
        score: The sum over the common words; a word counts less the more tools know it.
        words: The common words.
        sure: Whether nothing in the words speaks against the tool, other tools aside.
    """

    tool: Tool
    score: float
    words: frozenset[str]
    sure: bool


def ranked_tools(step: str, tools: Sequence[Tool]) -> list[ToolMatch]:
    """Return the tools, the best match first, those that fit alike in their order."""
    known = {tool.name: _known_words(tool) for tool in tools}
    spread = Counter(word for vocabulary in known.values() for word in vocabulary)
    said = step_words(step)
    matches = []
    for tool in tools:
        common = [word for word in dict.fromkeys(said) if word in known[tool.name]]
        score = sum(1 / spread[word] for word in common)
        matches.append(ToolMatch(tool, score, frozenset(common), _is_sure(said, tool, common)))
    return sorted(matches, key=lambda match: (-match.score, -len(match.words)))


def certain_tool(ranked: Sequence[ToolMatch]) -> Tool | None:
    """Return the tool that the words of a step mean beyond doubt, ``None`` where there is any."""
    if not ranked or not ranked[0].sure:
        return None
    if len(ranked) > 1 and ranked[0].score < LEAD * ranked[1].score:
        return None
    return ranked[0].tool


def turns(step: str) -> bool:
    """Return whether a step holds a word such as "not", so that what it names may be what it does not want."""
    return not _TURNING.isdisjoint(words(step))


def step_words(step: str) -> list[str]:
    """Return the words of a step that say what is to be done, without the values that it is done with."""
    plain = _VALUE.sub(" ", _QUOTED.sub(" ", step))
    return [word for word in words(plain) if word not in _FILLERS]


def _is_sure(said: Sequence[str], tool: Tool, common: Sequence[str]) -> bool:
    """Return whether the tool knows every word of the step, its verb as what the tool does, and some twice over."""
    described = set(words(_described(tool)))
    return (
        len(common) >= LEAST_WORDS
        and len(common) == len(set(said))
        and not described.isdisjoint(common)
        and said[0] in _verbs(tool)
        and _TURNING.isdisjoint(said)
    )


def _verbs(tool: Tool) -> set[str]:
    """Return what a tool does: the first word of its name and that of its description."""
    return {text_words[0] for text in (tool.name, tool.description) if (text_words := words(text))}


def _known_words(tool: Tool) -> frozenset[str]:
    return frozenset(words(f"{tool.name} {_described(tool)}")) - _FILLERS


def _described(tool: Tool) -> str:
    """Return what a tool says of itself beside its name."""
    texts = (f"{parameter.name} {parameter.description}" for parameter in tool.parameters)
    return " ".join((tool.description, *texts))
