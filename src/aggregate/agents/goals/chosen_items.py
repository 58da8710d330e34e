"""Choose the list items meant by a step (P18).

The model names the items, unless the step's words mean all of them. If the choice contradicts the words of step or
goal, the model is asked once more; then the step and its goal fail, since calls for the wrong items would look like
success.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aggregate.agents.goals import replies
from aggregate.agents.goals.branch import Branch, ItemsUnclear
from aggregate.agents.goals.lists import item_identity, item_names
from aggregate.agents.goals.questions import ONE_RESULT, QuestionKind, clip
from aggregate.agents.goals.spread import Loop
from aggregate.agents.goals.words import ItemClaim, plain_words, read_claim, significant_words
from aggregate.base.json_forms import json_text
from aggregate.base.text import fence
from aggregate.base.values import Value

# Characters of all items in the question, which stays below 400 tokens
_ITEMS_CHARACTERS: Final = 700
_TIMES: Final = 2
_OTHER: Final = re.compile(r"\W*other\W*", re.IGNORECASE)
_THEN: Final = re.compile(r"[.;]\s|,?\s*\b(?:and )?then\b", re.IGNORECASE)


def meant_items(branch: Branch, loop: Loop) -> Loop | None:
    """Reduce ``loop`` to the items meant by its step.

    Returns ``None`` if the step is about something missing from the list.

    Raises:
        ItemsUnclear: The model names no items, unknown ones, or too many or few.
    """
    items, noun = loop.source.items, loop.iteration.noun
    names = item_names(items, noun)
    step = branch.deciding_text(loop.step)
    fields = loop.source.fields
    claims = [read_claim(step, noun, names, fields)]
    if not claims[0].names:  # else the goal has several steps, each with items of its own
        claims.append(read_claim(_part_of_goal(branch.goal, step), noun, names, fields))
    choice = _Choice(branch, loop, names, claims)
    if (_is_plain(loop) or len(items) == 1) and not choice.fault(range(len(items))):
        return loop
    chosen = choice.ask()
    if chosen is None:
        return None
    picked = tuple(items[position] for position in chosen)
    return replace(loop, source=replace(loop.source, items=picked))


def _is_plain(loop: Loop) -> bool:
    """Return whether a step means all items without condition (D-21)."""
    phrase = loop.iteration.phrase
    is_only_noun = significant_words(phrase) == [loop.iteration.noun]
    return is_only_noun and not loop.step.partition(phrase)[2].strip(" .!")


def _part_of_goal(goal: str, step: str) -> str:
    """Return the goal from the step's verb on.

    So "List all rooms, book two" requires two rooms for the step "Book the rooms".
    """
    verb = next(iter(plain_words(step)), "")
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
        """Return the positions of the chosen items, ``None`` if another thing is meant."""
        fault = ""
        for _ in range(_TIMES):
            reply = self.branch.ask(
                QuestionKind.ITEMS,
                goal=clip(self.branch.goal, ONE_RESULT),
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
        number = len(self.names)
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
        table = replies.leading_object(reply)
        answers = table.get("items") if table else replies.json_value(reply, list)
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
                return [], f"{clip(name, 40)} is not in the list"
        return sorted({by_name[name] for name in names}), "" if names else "no item is named"

    def _name(self, answer: Value) -> str:
        noun = self.loop.iteration.noun
        if isinstance(answer, dict):
            identity = item_identity(answer, noun)
            answer = identity[1] if identity else ""
        name = str(answer).strip(" \t.*`\"'-[]").lower()
        return re.sub(rf"^{re.escape(noun)}s?\s+(?=\S)", "", name)
