"""Which items of a list a step means: all of them where its words say so, else those that the model names (rule P18).

An answer that contradicts the words of goal or step is asked for once more; then the step fails, and with it the goal:
a call for the wrong items would look like success.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aggregate.agents.goals import heuristics, questions, result_texts
from aggregate.agents.goals.execution import item_fills, sure_arguments
from aggregate.agents.goals.fan_out import Loop
from aggregate.agents.goals.goal_context import Branch, ItemsUnclear
from aggregate.agents.goals.item_words import ItemClaim, read_claim
from aggregate.agents.goals.questions import QuestionKind
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.json_forms import json_text
from aggregate.base.text import fence
from aggregate.base.values import Value

# Characters of all items in the question, which stays below 400 tokens
_ITEMS_CHARACTERS: Final = 700
_TIMES: Final = 2
_ALL: Final = ("all", "everything")
_OTHER: Final = re.compile(r"\W*other\W*", re.IGNORECASE)
_ID: Final = re.compile(r"_?(?:id|Id|ID)$")
_THEN: Final = re.compile(r"[.;]\s|,?\s*\b(?:and )?then\b", re.IGNORECASE)


def list_in_reach(
    branch: Branch, step: str, tool: Tool, iteration: heuristics.Iteration | None
) -> Loop | None:
    """Return the list of whose items ``tool`` takes one, ``None`` where there is none or the step names another."""
    if branch.item is not None or tool.name == ANALYSIS or not tool.parameters:
        return None
    nouns = [iteration.noun] if iteration else []
    nouns += [word for name in _stems(tool) for word in heuristics.words(name)[-1:]]
    nouns += heuristics.words(tool.name)[-1:]
    for noun in dict.fromkeys(nouns):
        source = heuristics.find_list(branch.context, noun, branch.run.cache_dir)
        if not source or not source.items or not _takes_one(tool, source, noun):
            continue
        phrase = iteration.phrase if iteration and iteration.noun == noun else ""
        certain = sure_arguments(tool, step, branch)
        names = {name for of_item in item_names(source.items, noun) for name in of_item}
        if certain and names.isdisjoint(map(str, certain.values())):
            return None  # "Get the price of article 9" is not about a list of others
        return Loop(step, heuristics.Iteration(phrase, noun), source)
    return None


def _stems(tool: Tool) -> list[str]:
    return [stem for parameter in tool.parameters if (stem := _ID.sub("", parameter.name))]


def _takes_one(tool: Tool, source: heuristics.ItemList, noun: str) -> bool:
    if any(parameter.type.startswith("list") for parameter in tool.required):
        return False
    if not source.named and source.name and source.name not in heuristics.USUAL:
        return False  # a list of something else
    if any(item_fills(tool, item, noun) for item in source.items):
        return source.named or isinstance(source.items[0], dict)
    tool_words = heuristics.words(" ".join((tool.name, *_stems(tool))))
    return source.named and noun in tool_words


def item_names(items: Sequence[Value], noun: str) -> list[list[str]]:
    """Return what each item is called, the name for the question first; a number where ids are not distinct."""
    names: list[list[str]] = []
    for item in items:
        identity = heuristics.item_identity(item, noun)
        if not isinstance(item, dict):
            names.append([" ".join(str(item).split())])
            continue
        values = [item.get(key) for key in ("number", "key", *result_texts.NAME_FIELDS)]
        named = [identity[1]] if identity else []
        names.append([str(value) for value in (*named, *values) if isinstance(value, str | int)])
    firsts = {of_item[0].lower() for of_item in names if of_item}
    if len(firsts) < len(items):
        return [[str(number)] for number in range(1, len(items) + 1)]
    return names


@dataclass(frozen=True, slots=True)
class _Choice:
    """A step's list with the names of its items, and what goal and step claim of them."""

    branch: Branch
    loop: Loop
    names: list[list[str]]
    claims: tuple[ItemClaim, ...]

    def fault(self, chosen: Sequence[int]) -> str:
        number = len(self.names)
        return next(filter(None, (claim.fault(chosen, number) for claim in self.claims)), "")


def meant_items(branch: Branch, loop: Loop) -> Loop | None:
    """Return ``loop`` with the items that the step means; ``None`` where the model says that it is about others.

    Raises:
        ItemsUnclear: The model names none, unknown ones, or others than goal and step ask for.
    """
    items, noun = loop.source.items, loop.iteration.noun
    names = item_names(items, noun)
    step = branch.deciding_text(loop.step)
    data = json_text(list(items))
    own = read_claim(step, noun, names, data)
    goal = own
    if not own.names:  # one of several steps, each for items that it names
        goal = read_claim(_part_of_goal(branch.goal, step), noun, names, data)
    choice = _Choice(branch, loop, names, (own, goal))
    everything = range(len(items))
    if (_is_plain(loop) or len(items) == 1) and not choice.fault(everything):
        return loop
    chosen = _asked(choice)
    if chosen is None:
        return None
    picked = tuple(items[position] for position in chosen)
    return replace(loop, source=replace(loop.source, items=picked))


def _is_plain(loop: Loop) -> bool:
    """Return whether a step says each, every or all, and nothing that makes them fewer (rule D-21).

    A field that items must have is looked up (rule D-32).
    """
    phrase, noun = loop.iteration.phrase, loop.iteration.noun
    between = [word for word in heuristics.words(phrase)[1:] if word not in heuristics.STOP]
    rest = loop.step.partition(phrase)[2].strip(" .!") if phrase else "any"
    if between != [noun]:
        return False
    items = loop.source.items
    return not rest or len(heuristics.filter_items(items, loop.step)) < len(items)


def _part_of_goal(goal: str, step: str) -> str:
    """Return the goal from the step's verb on, so that "List all rooms, book two" claims two for "Book the rooms"."""
    verb = next(iter(heuristics.plain_words(step)), "")
    match = re.search(rf"\b{re.escape(verb)}\b", goal, re.IGNORECASE) if verb else None
    if match is None or re.search(r"\b(?:except|but|apart|other than)\b", goal[: match.start()]):
        return goal
    return _THEN.split(goal[match.start() :], maxsplit=1)[0]


def _asked(choice: _Choice) -> list[int] | None:
    trouble, number = "", len(choice.names)
    for _ in range(_TIMES):
        reply = choice.branch.ask(
            QuestionKind.ITEMS,
            goal=result_texts.clip(choice.branch.goal, result_texts.ONE_RESULT),
            step=choice.loop.step,
            items=_lines(choice),
            trouble=trouble and f"The last answer was wrong: {trouble}.",
        )
        if _OTHER.fullmatch(reply or "") and not choice.fault(()):
            return None
        chosen, trouble = _positions(reply or "", choice)
        trouble = trouble or choice.fault(chosen)
        if not trouble:
            return chosen
    nouns = f"{number} items" if number > 1 else "item"
    raise ItemsUnclear(f'not clear which of the {nouns} "{choice.loop.step}" means: {trouble}')


def _lines(choice: _Choice) -> str:
    items, most = choice.loop.source.items, max(12, _ITEMS_CHARACTERS // len(choice.names))
    lines: list[str] = []
    for of_item, item in zip(choice.names, items, strict=True):
        text = json_text(item)
        line = of_item[0] if text.strip('"') == of_item[0] else f"{of_item[0]}: {text}"
        lines.append(line[:most] if len(of_item[0]) < most else of_item[0][:most])
        if sum(map(len, lines)) > _ITEMS_CHARACTERS:
            lines.append(f"({len(items) - len(lines)} more)")
            break
    return fence("\n".join(lines))


def _positions(reply: str, choice: _Choice) -> tuple[list[int], str]:
    """Return the items that an answer names, and what is wrong with it."""
    table = questions.json_value(reply, dict) if reply.lstrip().startswith("{") else None
    listed = table.get("items") if table else questions.json_value(reply, list)
    if not isinstance(listed, list):
        text = listed if isinstance(listed, str | int) else reply
        listed = re.split(r"[,;\n]|\band\b", str(text))
    by_name = {name.lower(): n for n, of_item in enumerate(choice.names) for name in of_item[::-1]}
    # The first name of an item goes before other items' further names.
    by_name |= {of_item[0].lower(): n for n, of_item in enumerate(choice.names)}
    chosen: dict[int, None] = {}
    for answer in listed:
        name = _answered_name(answer, choice.loop.iteration.noun)
        if name in _ALL and len(listed) == 1:
            return list(range(len(choice.names))), ""
        if name and name not in by_name:
            return [], f"{result_texts.clip(name, 40)} is not in the list"
        if name:
            chosen[by_name[name]] = None
    return sorted(chosen), "" if chosen else "it names no item"


def _answered_name(answer: Value, noun: str) -> str:
    if isinstance(answer, dict):
        identity = heuristics.item_identity(answer, noun)
        answer = identity[1] if identity else ""
    name = str(answer).strip(" \t.*`\"'-[]").lower()
    return re.sub(rf"^{re.escape(noun)}s?\s+(?=\S)", "", name)
