"""Which tool a step needs: by its words where these leave no doubt, else by the model (rule P2).

A wrong tool costs more than a question: words decide only where nothing speaks against it, and never on a tool that
may change something.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from aggregate.agents.goals.goal_context import Branch, StepFailed
from aggregate.agents.goals.heuristics import STOP, plain_words, significant_words, singular, words
from aggregate.agents.goals.questions import QuestionKind, choice_schema, named_text
from aggregate.agents.goals.result_texts import clip
from aggregate.agents.tools import ANALYSIS, Permission, Tool, ToolRegistry
from aggregate.base.text import fence

# Distinct words of a step that a tool must know, one of them from its description or parameters. One word is mostly
# the verb, and a verb alone fits tools that do it to something else.
LEAST_WORDS = 2
# How many times better than the next the best must fit
LEAD = 1.5
# Words that turn a step into something else than what its other words say
_TURNING = frozenset(["not", "no", "never", "without", "except", "instead", "rather", "but"])
# Words with which a step speaks of several things
_SEVERAL = frozenset(["all", "each", "every"])
# Words that change a verb: to turn on is not to turn off
_PARTICLES = frozenset(["on", "off", "up", "down", "out", "over", "back", "away"])
_FILLERS = STOP - _TURNING - _PARTICLES
# Verbs of tools that only look, by their names and by their descriptions, and words of those that do more. A tool whose
# author says nothing of permissions has that to read: name and description must say that it reads.
_LOOKING = frozenset(
    ("get", "list", "read", "find", "search", "show", "fetch", "look", "view", "count", "query")
)
_TELLING = _LOOKING | {"describe", "give", "outline", "return", "summarise", "summarize", "tell"}
_CHANGING_WORDS = """
add archive assign cancel change clear create delete edit mark modify move open remove reset save send set update write
"""
_CHANGING = frozenset(_CHANGING_WORDS.split())
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'|`[^`]*`")
# What stands for itself in a step: numbers, dates, ids, addresses, paths, names of files, fields in braces
_VALUE = re.compile(r"\S*[\d/@{}]\S*|\b\w+\.\w\S*")


@dataclass(frozen=True, slots=True)
class _ToolMatch:
    """How many words a step and a tool have in common; ``sure`` where nothing in the words speaks against the tool."""

    tool: Tool
    score: float
    words: int
    sure: bool


def ranked_tools(step: str, tools: Sequence[Tool]) -> list[_ToolMatch]:
    """Return the tools, the best match first, those that fit alike in their order."""
    known = {
        tool.name: frozenset(words(f"{tool.name} {_described(tool)}")) - _FILLERS for tool in tools
    }
    spread = Counter(word for vocabulary in known.values() for word in vocabulary)
    plain = _VALUE.sub(" ", _QUOTED.sub(" ", step))
    said = [word for word in words(plain) if word not in _FILLERS]
    matches = []
    for tool in tools:
        common = [word for word in dict.fromkeys(said) if word in known[tool.name]]
        # A word counts less the more tools know it.
        score = sum(1 / spread[word] for word in common)
        # What the step names, such as a number, needs a place in the call.
        has_place = plain == step or bool(tool.parameters)
        is_sure = has_place and _only_looks(tool) and _is_meant(plain, said, tool, common)
        matches.append(_ToolMatch(tool, score, len(common), is_sure))
    return sorted(matches, key=lambda match: (-match.score, -match.words))


def certain_tool(ranked: Sequence[_ToolMatch]) -> Tool | None:
    """Return the tool that the words of a step mean beyond doubt, ``None`` where there is any."""
    if not ranked or not ranked[0].sure:
        return None
    if len(ranked) > 1 and ranked[0].score < LEAD * ranked[1].score:
        return None
    return ranked[0].tool


def _only_looks(tool: Tool) -> bool:
    """Return whether permissions, name and description say that the tool reads; what does not say so may write."""
    named, described = words(tool.name), words(tool.description)
    return (
        Permission.WRITE not in tool.permissions
        and tool.idempotent is not False
        and _LOOKING.issuperset(named[:1])
        and _TELLING.issuperset(described[:1])
        and _CHANGING.isdisjoint((*named, *described))
    )


def _is_meant(plain: str, said: Sequence[str], tool: Tool, common: Sequence[str]) -> bool:
    """Return whether the tool knows every word of the step, as one or as several, and the verb as what it does."""
    described = set(words(_described(tool)))
    # What a tool does: the first word of its name and that of its description.
    verbs = {named[0] for text in (tool.name, tool.description) if (named := words(text))}
    return (
        len(common) >= LEAST_WORDS
        and len(common) == len(set(said))
        and not described.isdisjoint(common)
        and words(plain)[0] in verbs  # "Did we get the mails" gets none
        and _TURNING.isdisjoint(said)
        and _numbers_agree(plain, tool)
    )


def _numbers_agree(plain: str, tool: Tool) -> bool:
    """Return whether step and tool speak of one thing, or of several: to get the tickets is not to get a ticket."""
    spoken = plain_words(plain)
    said = [word for word in spoken if word not in STOP]
    named = plain_words(tool.name)
    # What the name says of a thing goes before what the description says.
    known = {singular(word) for word in named}
    described = [word for word in plain_words(_described(tool)) if singular(word) not in known]
    fits_number = _SEVERAL.isdisjoint(spoken) or any(singular(word) != word for word in said)
    return fits_number and {*named, *described}.issuperset(said)


def _described(tool: Tool) -> str:
    texts = (f"{parameter.name} {parameter.description}" for parameter in tool.parameters)
    return " ".join((tool.description, *texts))


# Tools to choose from in one question, which then stays below 400 tokens
CANDIDATES = 10
# Tools to choose from in all questions for one step
MOST_CANDIDATES = 60
NOT_CHOSEN = "no tool was chosen: the model named none of those that it was shown"
# Names of tools that follow in the next question: as many as the question for the steps names
_NAMES = 24
# How often a question is asked whose answer cannot be read
_TIMES = 2
_DESCRIPTION_CHARACTERS = 120
_NONE = re.compile(r"\W*(?:none|nothing|no (?:\w+ )?tool)\b", re.IGNORECASE)


def choose_tool(branch: Branch, step: str) -> Tool | None:
    """Return the tool that does ``step``, ``None`` for the model alone where no tool can.

    A branch for which was decided already keeps that; a corrective one may only analyse.
    """
    if branch.decided:
        return branch.tool
    if branch.corrective:
        return branch.run.tools.get(ANALYSIS) if ANALYSIS in branch.run.tools else None
    step = branch.deciding_text(step)
    named = _mentioned_tools(step, branch.run.tools, several_words=True)
    is_meant = len(named) == 1 and _TURNING.isdisjoint(words(step))
    if is_meant and _only_looks(named[0]):
        return named[0]
    ranked = ranked_tools(step, list(branch.run.tools))
    if certain := certain_tool(ranked):
        return certain
    tools = [match.tool for match in ranked]
    analysis = [tool for tool in tools[CANDIDATES:] if tool.name == ANALYSIS]
    if analysis:  # among those shown first: what is there can always be computed with
        tools.remove(analysis[0])
        tools.insert(CANDIDATES - 1, analysis[0])
    if len(tools) > MOST_CANDIDATES:
        branch.warn(
            f'Only {MOST_CANDIDATES} of {len(tools)} tools were offered for "{clip(step, 80)}".'
        )
    return _asked_tool(branch, step, tools[:MOST_CANDIDATES])


def _asked_tool(branch: Branch, step: str, offered: Sequence[Tool]) -> Tool | None:
    for start in range(0, len(offered), CANDIDATES):
        shown = offered[start : start + CANDIDATES]
        names = ", ".join(tool.name for tool in offered[start + CANDIDATES :][:_NAMES])
        for _ in range(_TIMES):
            reply = branch.ask(
                QuestionKind.FIND_TOOL,
                step=step,
                tools=fence("\n".join(map(_tool_line, shown))),
                rest=f"You are shown these after NONE: {names}" if names else "",
                schema=choice_schema([tool.name for tool in shown]),
            )
            text = named_text(reply or "", "tool")
            if _NONE.match(text):
                break
            mentioned = [tool for tool in _mentioned_tools(text, branch.run.tools) if tool in shown]
            if len(mentioned) == 1:
                return mentioned[0]
        else:
            raise StepFailed(NOT_CHOSEN)
    return None


def _tool_line(tool: Tool) -> str:
    """Return what a model is shown of a tool: ``getPrice(article_id: int): Get its price.``."""
    parameters = ", ".join(
        f"{parameter.name}{'' if parameter.required else '?'}: {parameter.type}"
        for parameter in tool.parameters
    )
    return f"{tool.name}({parameters}): {clip(tool.description, _DESCRIPTION_CHARACTERS)}"


def _mentioned_tools(text: str, tools: ToolRegistry, *, several_words: bool = False) -> list[Tool]:
    mentioned: dict[str, Tool] = {}
    for name, tool in tools.spellings().items():
        # A name of one plain word, as ``search``, names no tool: a step may use the word.
        if several_words and len(significant_words(name)) < 2:
            continue
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE):
            mentioned.setdefault(tool.name, tool)
    return list(mentioned.values())
