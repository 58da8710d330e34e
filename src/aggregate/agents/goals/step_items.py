"""Spread a step over its parts or over the items of a list (D-20 to D-34, P6 to P9, P18).

The model names the items of a list, unless the step's words mean all of them. If the choice contradicts the words of
step or goal, the model is asked once more; then the step and its goal fail, since calls for the wrong items would look
like success.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aggregate.agents.goals import lists, questions
from aggregate.agents.goals.calls import (
    Branch,
    ItemsUnclear,
    StepFailed,
    item_fills,
    sure_arguments,
)
from aggregate.agents.goals.goal_result import (
    SHOWN_ITEMS,
    envelope_content,
    failure_message,
    is_failure,
)
from aggregate.agents.goals.lists import DENDRITES, ItemList, item_identity, item_names
from aggregate.agents.goals.questions import ONE_RESULT, QuestionKind, clip
from aggregate.agents.goals.words import (
    ItemClaim,
    Iteration,
    has_parts,
    is_compound,
    plain_words,
    read_claim,
    significant_words,
    words,
)
from aggregate.agents.limits import Limit
from aggregate.agents.results import FailurePolicy, LabelledOutput, failures
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.json_forms import json_text, jsonable
from aggregate.base.text import fence
from aggregate.base.values import Value

# As many as the question for them names
MOST_PARTS: Final = 3
# Characters of an item's name in a warning
LEFT_CHARACTERS: Final = 40
# Seconds; a number below it is not a timestamp
DAY: Final = 86_400
_START: Final = re.compile(r"\b(?:start(?:ing)?|first|from|begin(?:ning)?|after)\b", re.IGNORECASE)
_END: Final = re.compile(r"\b(?:end(?:ing)?|last|until|till|before)\b", re.IGNORECASE)
_ID: Final = re.compile(r"_?(?:id|Id|ID)$")


# Parts


def parts_of(branch: Branch, step: str, tool: Tool | None) -> list[str]:
    """Return the 2 or 3 parts that the model splits a step into, or none."""
    if not branch.may_spawn or branch.item is not None or not has_parts(step, tool):
        return []
    text = branch.ask(QuestionKind.SPLIT, goal=branch.goal, step=step)
    if text is None or re.match(r"\W*single\b", text, re.IGNORECASE):
        return []
    parts = questions.parse_steps(text)
    return parts if 2 <= len(parts) <= MOST_PARTS else []


def parts_result(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Merge the results of a step's parts; the step fails if a part failed."""
    errors, fails = failures(_outputs(results), FailurePolicy.FAIL)
    if fails:
        error = f"a part of the step failed: {errors[0]}"
        return {"success": False, "error": error, "results": results}
    merged = merge_parts(parts, results)
    return {"success": True, "subtasks_completed": len(results), "results": results, **merged}


def merge_parts(parts: Sequence[str], results: Sequence[Value]) -> dict[str, Any]:
    """Return ``start`` and ``end`` from the parts' results.

    Rules D-26 and X-10: timestamps are also returned as ``after_unix`` and ``before_unix``. The words of each part say
    whether it is start or end; else two ascending numbers are start and end. If ``end`` is a midnight, ``before_unix``
    is the last second of that day.
    """
    merged: dict[str, Any] = {}
    numbers = [_number(result) for result in results]
    for part, number in zip(parts, numbers, strict=True):
        names_start, names_end = bool(_START.search(part)), bool(_END.search(part))
        if number is not None and names_start != names_end:
            merged["start" if names_start else "end"] = number
    known = [number for number in numbers if number is not None]
    if not merged and len(known) == len(numbers) == 2 and known == sorted(known):
        merged = {"start": known[0], "end": known[1]}
    if len(merged) == 2 and all(abs(moment) > DAY for moment in merged.values()):
        ends_at_midnight = merged["end"] % DAY == 0
        merged["after_unix"] = merged["start"]
        merged["before_unix"] = merged["end"] + (DAY - 1 if ends_at_midnight else 0)
    return merged


def _number(result: Value) -> int | None:
    """Return the whole number or timestamp in a part's result."""
    content = envelope_content(result)
    if isinstance(content, Mapping):
        content = content.get("unix_timestamp", content.get("timestamp"))
    if isinstance(content, str) and re.fullmatch(r"-?\d{1,15}", content.strip()):
        return int(content)
    return content if isinstance(content, int) and not isinstance(content, bool) else None


def _outputs(results: Sequence[Value]) -> list[LabelledOutput]:
    return [
        LabelledOutput(result, error=failure_message(result) if is_failure(result) else None)
        for result in results
    ]


# Lists


@dataclass(frozen=True, slots=True)
class Loop:
    """A step, and the list processed item by item."""

    step: str
    iteration: Iteration
    source: ItemList


def find_loop(branch: Branch, step: str, iteration: Iteration) -> Loop | None:
    """Find the list that a step loops over, unless an outer loop uses it (D-20, D-34)."""
    source = lists.find_list(branch.context, iteration.noun, branch.run.cache_dir)
    return Loop(step, iteration, source) if source and source.digest not in branch.lists else None


def loop_over_result(branch: Branch, step: str, iteration: Iteration, result: Value) -> Loop | None:
    """Return the first list with several items in a result, unless an outer loop uses it."""
    for source in () if is_failure(result) else lists.lists_in(result, iteration.noun):
        if len(source.items) > 1:
            return None if source.digest in branch.lists else Loop(step, iteration, source)
    return None


def list_in_reach(
    branch: Branch, step: str, tool: Tool | None, iteration: Iteration | None
) -> Loop | None:
    """Find an earlier result's list whose items ``tool`` takes one at a time (P18)."""
    if tool is None or branch.item is not None or tool.name == ANALYSIS or not tool.parameters:
        return None
    stems = [stem for parameter in tool.parameters if (stem := _ID.sub("", parameter.name))]
    nouns = [iteration.noun] if iteration else []
    nouns += [noun for name in (*stems, tool.name) for noun in words(name)[-1:]]
    for noun in dict.fromkeys(nouns):
        source = lists.find_list(branch.context, noun, branch.run.cache_dir)
        if not source or not source.items or not _takes_one(tool, stems, source, noun):
            continue
        certain = sure_arguments(tool, step, branch)
        names = {name for item in lists.item_names(source.items, noun) for name in item}
        if certain and names.isdisjoint(map(str, certain.values())):
            return None  # "Get the price of article 9" is not about a list of others
        phrase = iteration.phrase if iteration and iteration.noun == noun else ""
        return Loop(step, Iteration(phrase, noun), source)
    return None


def _takes_one(tool: Tool, stems: Sequence[str], source: ItemList, noun: str) -> bool:
    if any(parameter.type.startswith("list") for parameter in tool.required):
        return False
    if not source.named and source.name and source.name not in lists.USUAL:
        return False  # a list of something else
    if any(item_fills(tool, item, noun) for item in source.items):
        return source.named or isinstance(source.items[0], dict)
    return source.named and noun in words(" ".join((tool.name, *stems)))


def needs_each(branch: Branch, loop: Loop, tool: Tool | None) -> bool:
    """Return whether a step needs a call for each item.

    Code can loop over a list itself, and a tool without arguments does the same for each item. A tool whose arguments
    are fields of the items needs a call for each. Otherwise the model decides, since a wrong single call would look
    like success.
    """
    items = loop.source.items
    if tool is None:
        return bool(items) and _more_needed(branch, loop)
    if tool.name == ANALYSIS or not tool.parameters:
        return False
    if not items or any(item_fills(tool, item, loop.iteration.noun) for item in items):
        return True
    verdict = _ask_about_item(branch, loop, QuestionKind.CALLS_NEEDED)
    if verdict is None:
        raise StepFailed(f"the model did not say whether to call {tool.name} for each item")
    return verdict


def more_calls_needed(branch: Branch, loop: Loop, used: Tool) -> bool:
    """Return whether a result's items need another tool (D-27).

    They do not if the items have all fields mentioned in the step, or if no tool except ``used`` takes one of the
    fields.
    """
    registry, item = branch.run.tools, loop.source.items[0]
    others = [tool for tool in registry if tool.name not in (used.name, ANALYSIS)]
    others = [tool for tool in others if tool.permissions <= registry.permissions]
    if not any(item_fills(tool, item, loop.iteration.noun) for tool in others):
        return False
    iteration_words = words(loop.iteration.phrase)
    after_verb = significant_words(loop.step)[1:]
    objects = {word for word in after_verb if word not in iteration_words}
    names_fields_only = bool(objects) and objects.issubset(words(" ".join(loop.source.fields)))
    return not names_fields_only and _more_needed(branch, loop)


def _more_needed(branch: Branch, loop: Loop) -> bool:
    has_all = _ask_about_item(branch, loop, QuestionKind.FIELDS_PRESENT)
    if has_all is not False:
        return False
    return _ask_about_item(branch, loop, QuestionKind.CALLS_NEEDED) is True


def _ask_about_item(branch: Branch, loop: Loop, kind: QuestionKind) -> bool | None:
    item = questions.fenced_data(loop.source.items[0], questions.ALL_RESULTS)
    return questions.yes_or_no(branch.ask(kind, step=loop.step, item=item))


def template_for(branch: Branch, loop: Loop, *, ask: bool = False) -> str:
    """Return the template of the items' sub-tasks (P8).

    Names of the items' fields are in braces. The template is made from the step by a rule, else by the model; else it
    is the step itself.
    """
    by_rule = lists.rule_template(loop.step, loop.iteration, loop.source.items[0])
    if not loop.iteration.phrase or (by_rule and not ask):
        return by_rule or loop.step
    fields = questions.field_names(loop.source.fields or ["item"])
    reply = branch.ask(QuestionKind.ITEM_GOAL, step=loop.step, fields=fields)
    return questions.first_line(reply) or by_rule or loop.step


def item_branches(
    branch: Branch, loop: Loop, template: str, tool: Tool | None, *, chosen: bool = False
) -> list[Branch]:
    """Return a branch for each item's sub-task; a ``chosen`` item gets a single step."""
    limit, listed = branch.run.limits.dendrites, loop.source.items
    items = list({_item_key(item): lists.without_attached(item) for item in listed}.values())
    if duplicates := len(listed) - len(items):
        branch.warn(f"{duplicates} of {len(listed)} items are repeated and processed once.")
    if limit < len(items):
        branch.run.budget.stop(Limit.ITEMS, branch.node.place)
        branch.warn(
            f"Only {limit} of {len(items)} items were processed: the limit of sub-tasks is reached."
            f" {_unfinished(items[limit:])}"
        )
    branch.finished_loops.add((loop.source.digest, template))
    if items and not limit:
        raise StepFailed("no sub-task was started: the limit of items in a step is 0")
    fields: dict[str, Any] = {
        "noun": loop.iteration.noun,
        "lists": branch.lists | {loop.source.digest},
        "chosen": chosen,
    }
    if chosen or not is_compound(template):
        # A single step is decided here for all items; the model splits a compound one for each item.
        fields |= {"template": template, "decided": True, "tool": tool}
    return [
        branch.below(number, lists.item_goal(template, item, number), item=item, **fields)
        for number, item in enumerate(items[:limit], 1)
    ]


def items_result(
    branch: Branch, loop: Loop, items: Sequence[Value], results: Sequence[Value]
) -> dict[str, Any]:
    """Merge the results of all items; the step fails if all failed."""
    errors, fails = failures(_outputs(results), FailurePolicy.REPORT)
    merged: dict[str, Any] = {"success": not fails}
    if fails:
        merged["error"] = f"all sub-tasks failed, the first one with: {errors[0]}"
    elif errors:
        pairs = zip(items, results, strict=True)
        unfinished = _unfinished([item for item, result in pairs if is_failure(result)])
        failed = f"{len(errors)} of {len(results)} sub-tasks failed"
        branch.warn(f"{failed}, the first one with: {errors[0]}. {unfinished}")
    objects = [item if isinstance(item, Mapping) else {"item": item} for item in items]
    attached = zip(objects, results, strict=True)
    return {
        **merged,
        "items_processed": len(results),
        "item_noun": loop.iteration.noun,
        DENDRITES: results,
        "items": [{**item, lists.ATTACHED: result} for item, result in attached],
    }


def _unfinished(items: Sequence[Value]) -> str:
    """List unfinished items by id or content, in a sentence."""
    names = []
    for item in items[:SHOWN_ITEMS]:
        identity = lists.item_identity(item)
        name = str(identity[1]) if identity else json_text(item)
        names.append(questions.clip(name, LEFT_CHARACTERS))
    more = f" and {len(items) - len(names)} more" if len(items) > len(names) else ""
    return f"Unfinished: {', '.join(names)}{more}."


def with_results(result: Value, source: ItemList, spawned: dict[str, Any]) -> Value:
    """Add to each item of a tool's result the result of its sub-task (D-29)."""
    if not isinstance(result, dict) or not source.name:
        return spawned
    by_key = {_item_key(item): item for item in spawned["items"]}
    items = [by_key.get(_item_key(item), item) for item in source.items]
    counts = {key: spawned[key] for key in ("items_processed", "item_noun", DENDRITES)}
    return {**result, source.name: items, **counts}


def _item_key(item: Value) -> str:
    return json.dumps(jsonable(lists.without_attached(item)), sort_keys=True)


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
        table = questions.leading_object(reply)
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
                return [], f"{clip(name, 40)} is not in the list"
        return sorted({by_name[name] for name in names}), "" if names else "no item is named"

    def _name(self, answer: Value) -> str:
        noun = self.loop.iteration.noun
        if isinstance(answer, dict):
            identity = item_identity(answer, noun)
            answer = identity[1] if identity else ""
        name = str(answer).strip(" \t.*`\"'-[]").lower()
        return re.sub(rf"^{re.escape(noun)}s?\s+(?=\S)", "", name)
