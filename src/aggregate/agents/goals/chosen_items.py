"""Choose the list items meant by a step (P18).

The model names the items, unless the step's words mean all of them. If the choice contradicts the words of step or
goal, the model is asked once more; then the step and its goal fail, since calls for the wrong items would look like
success.
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
_OTHER: Final = re.compile(r"\W*other\W*", re.IGNORECASE)
_ID: Final = re.compile(r"_?(?:id|Id|ID)$")
_THEN: Final = re.compile(r"[.;]\s|,?\s*\b(?:and )?then\b", re.IGNORECASE)


def list_in_reach(
    branch: Branch, step: str, tool: Tool, iteration: heuristics.Iteration | None
) -> Loop | None:
    """Find an earlier result's list whose items ``tool`` takes one at a time."""
    if branch.item is not None or tool.name == ANALYSIS or not tool.parameters:
        return None
    stems = [stem for parameter in tool.parameters if (stem := _ID.sub("", parameter.name))]
    nouns = [iteration.noun] if iteration else []
    nouns += [noun for name in (*stems, tool.name) for noun in heuristics.words(name)[-1:]]
    for noun in dict.fromkeys(nouns):
        source = heuristics.find_list(branch.context, noun, branch.run.cache_dir)
        if not source or not source.items or not _takes_one(tool, stems, source, noun):
            continue
        phrase = iteration.phrase if iteration and iteration.noun == noun else ""
        certain = sure_arguments(tool, step, branch)
        names = {name for item in item_names(source.items, noun) for name in item}
        if certain and names.isdisjoint(map(str, certain.values())):
            return None  # "Get the price of article 9" is not about a list of others
        return Loop(step, heuristics.Iteration(phrase, noun), source)
    return None


def _takes_one(tool: Tool, stems: list[str], source: heuristics.ItemList, noun: str) -> bool:
    if any(parameter.type.startswith("list") for parameter in tool.required):
        return False
    if not source.named and source.name and source.name not in heuristics.USUAL:
        return False  # a list of something else
    if any(item_fills(tool, item, noun) for item in source.items):
        return source.named or isinstance(source.items[0], dict)
    return source.named and noun in heuristics.words(" ".join((tool.name, *stems)))


def item_names(items: Sequence[Value], noun: str) -> list[list[str]]:
    """Return the names of each item, or numbers if first names are equal."""
    names: list[list[str]] = []
    for item in items:
        if not isinstance(item, dict):
            names.append([" ".join(str(item).split())])
            continue
        identity = heuristics.item_identity(item, noun)
        values = [item.get(key) for key in ("number", "key", *result_texts.NAME_FIELDS)]
        values = [identity[1], *values] if identity else values
        names.append([str(value) for value in values if isinstance(value, str | int)])
    firsts = {item[0].lower() for item in names if item}
    if len(firsts) < len(items):
        return [[str(number)] for number in range(1, len(items) + 1)]
    return names


def meant_items(branch: Branch, loop: Loop) -> Loop | None:
    """Reduce ``loop`` to the items meant by its step.

    Returns ``None`` if the step is about something missing from the list.

    Raises:
        ItemsUnclear: The model names no items, unknown ones, or too many or few.
    """
    items, noun = loop.source.items, loop.iteration.noun
    names = item_names(items, noun)
    step = branch.deciding_text(loop.step)
    data = json_text(list(items))
    claims = [read_claim(step, noun, names, data)]
    if not claims[0].names:  # else the goal has several steps, each with items of its own
        claims.append(read_claim(_part_of_goal(branch.goal, step), noun, names, data))
    choice = _Choice(branch, loop, names, claims)
    if (_is_plain(loop) or len(items) == 1) and not choice.fault(range(len(items))):
        return loop
    chosen = choice.ask()
    if chosen is None:
        return None
    picked = tuple(items[position] for position in chosen)
    return replace(loop, source=replace(loop.source, items=picked))


def _is_plain(loop: Loop) -> bool:
    """Return whether a step means all items without condition (D-21).

    A field required of the items is not a condition: it is looked up (rule D-32).
    """
    phrase, items = loop.iteration.phrase, loop.source.items
    between = [word for word in heuristics.words(phrase)[1:] if word not in heuristics.STOP]
    if between != [loop.iteration.noun]:
        return False
    rest = loop.step.partition(phrase)[2].strip(" .!")
    return not rest or len(heuristics.filter_items(items, loop.step)) < len(items)


def _part_of_goal(goal: str, step: str) -> str:
    """Return the goal from the step's verb on.

    So "List all rooms, book two" requires two rooms for the step "Book the rooms".
    """
    verb = next(iter(heuristics.plain_words(step)), "")
    match = re.search(rf"\b{re.escape(verb)}\b", goal, re.IGNORECASE) if verb else None
    if match is None or re.search(r"\b(?:except|but|apart|other than)\b", goal[: match.start()]):
        return goal
    return _THEN.split(goal[match.start() :], maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class _Choice:
    """The model's choice of items, limited by claims."""

    branch: Branch
    loop: Loop
    names: list[list[str]]  # of each item
    claims: Sequence[ItemClaim]

    def fault(self, chosen: Sequence[int]) -> str:
        return next(filter(None, (claim.fault(chosen) for claim in self.claims)), "")

    def ask(self) -> list[int] | None:
        fault, number = "", len(self.names)
        for _ in range(_TIMES):
            reply = self.branch.ask(
                QuestionKind.ITEMS,
                goal=result_texts.clip(self.branch.goal, result_texts.ONE_RESULT),
                step=self.loop.step,
                items=self._lines(),
                trouble=fault and f"The last answer was wrong: {fault}.",
            )
            if _OTHER.fullmatch(reply or "") and not self.fault(()):
                return None
            chosen, fault = self._positions(reply or "")
            fault = fault or self.fault(chosen)
            if not fault:
                return chosen
        unclear = f"which of the {number} items" if number > 1 else "whether the only item"
        raise ItemsUnclear(
            f'the step "{self.loop.step}" does not say clearly {unclear} it means: {fault}'
        )

    def _lines(self) -> str:
        items, most = self.loop.source.items, max(12, _ITEMS_CHARACTERS // len(self.names))
        lines: list[str] = []
        for (name, *_), item in zip(self.names, items, strict=True):
            text = json_text(item)
            line = name if text.strip('"') == name else f"{name}: {text}"
            lines.append(line[:most] if len(name) < most else name[:most])
            if sum(map(len, lines)) > _ITEMS_CHARACTERS:
                lines.append(f"({len(items) - len(lines)} more)")
                break
        return fence("\n".join(lines))

    def _positions(self, reply: str) -> tuple[list[int], str]:
        """Parse an answer; return the positions of the named items, and the answer's fault."""
        table = questions.json_value(reply, dict) if reply.lstrip().startswith("{") else None
        answers = table.get("items") if table else questions.json_value(reply, list)
        if not isinstance(answers, list):
            text = answers if isinstance(answers, str | int) else reply
            answers = re.split(r"[,;\n]|\band\b", str(text))
        by_name = {name.lower(): n for n, item in enumerate(self.names) for name in item}
        # The first name of an item goes before other items' further names.
        by_name |= {item[0].lower(): n for n, item in enumerate(self.names)}
        names = [name for answer in answers if (name := self._name(answer))]
        if len(answers) == 1 and names in (["all"], ["everything"]):
            return list(range(len(self.names))), ""
        for name in names:
            if name not in by_name:
                return [], f"{result_texts.clip(name, 40)} is not in the list"
        return sorted({by_name[name] for name in names}), "" if names else "no item is named"

    def _name(self, answer: Value) -> str:
        noun = self.loop.iteration.noun
        if isinstance(answer, dict):
            identity = heuristics.item_identity(answer, noun)
            answer = identity[1] if identity else ""
        name = str(answer).strip(" \t.*`\"'-[]").lower()
        return re.sub(rf"^{re.escape(noun)}s?\s+(?=\S)", "", name)
