"""Steps that go through a list: which list, whether each item needs a call, and the goal of one item."""

from dataclasses import dataclass

from aggregate.agents.goals import formatting, reply_parsing
from aggregate.agents.goals.answer_selection import is_failure
from aggregate.agents.goals.branch import Branch
from aggregate.agents.goals.goal_context import GoalContext
from aggregate.agents.goals.goal_templates import rule_template
from aggregate.agents.goals.heuristics import Iteration, significant_words, words
from aggregate.agents.goals.item_lists import ItemList, fields_of, find_list, lists_in
from aggregate.agents.goals.model import QuestionKind
from aggregate.agents.goals.tool_arguments import item_fills
from aggregate.agents.tools import ANALYSIS, Tool
from aggregate.base.values import Value


@dataclass(frozen=True, slots=True)
class Loop:
    """A step that goes through a list.

    Attributes:
        step: The step.
        iteration: Its words that say so.
        source: The list.
    """

    step: str
    iteration: Iteration
    source: ItemList

    @property
    def items(self) -> tuple[Value, ...]:
        """What the list holds."""
        return self.source.items


def may_spawn(run: GoalContext, branch: Branch) -> bool:
    """Return whether sub-tasks of this branch are allowed (rule D-6)."""
    return branch.depth < run.limits.depth - 1 and not branch.corrective


def find_loop(run: GoalContext, branch: Branch, step: str, iteration: Iteration) -> Loop | None:
    """Return the step with the list that it goes through, unless a branch above goes through that (D-20, D-34)."""
    source = find_list(branch.context, iteration.noun, run.cache_dir)
    if source is None or source.digest in branch.lists:
        return None
    return Loop(step, iteration, source)


def loop_over_result(branch: Branch, step: str, iteration: Iteration, result: Value) -> Loop | None:
    """Return the step with the list of more than one item that its result holds (rules D-27, D-34)."""
    if is_failure(result):
        return None
    several = (source for source in lists_in(result, iteration.noun) if len(source.items) > 1)
    source = next(several, None)
    if source is None or source.digest in branch.lists:
        return None
    return Loop(step, iteration, source)


def needs_each(run: GoalContext, branch: Branch, loop: Loop, tool: Tool | None) -> bool:
    """Return whether a step must be done for each item by itself.

    Code goes through a list by itself; a tool that takes what an item gives must be called for each; one that does not
    cannot. Only without a tool the model is asked.
    """
    if tool is None:
        return bool(loop.items) and _more_needed(run, branch, loop)
    if tool.name == ANALYSIS:
        return False
    return not loop.items or item_fills(tool, loop.items[0], loop.iteration.noun)


def more_calls_needed(run: GoalContext, branch: Branch, loop: Loop, used: Tool) -> bool:
    """Return whether a list that a tool gave needs further calls for each of its items (rule D-27).

    Not where the items hold the fields that the step names, nor where no other tool takes what an item gives.
    """
    others = (
        tool
        for tool in run.tools
        if tool.name not in (used.name, ANALYSIS) and tool.permissions <= run.tools.permissions
    )
    if not any(item_fills(tool, loop.items[0], loop.iteration.noun) for tool in others):
        return False
    return not _names_fields_only(loop) and _more_needed(run, branch, loop)


def _more_needed(run: GoalContext, branch: Branch, loop: Loop) -> bool:
    item = formatting.fenced_data(loop.items[0], formatting.ALL)
    reply = run.ask(branch.node, QuestionKind.FIELDS_PRESENT, step=loop.step, item=item)
    if reply_parsing.yes_or_no(reply) is not False:
        return False
    reply = run.ask(branch.node, QuestionKind.CALLS_NEEDED, step=loop.step, item=item)
    return reply_parsing.yes_or_no(reply) is True


def _names_fields_only(loop: Loop) -> bool:
    """Return whether all that a step names beside its verb and its noun are fields of the items."""
    field_words = {word for field in fields_of(loop.items) for word in words(field)}
    iteration_words = words(loop.iteration.phrase)
    after_verb = significant_words(loop.step)[1:]
    named = [word for word in after_verb if word not in iteration_words]
    return bool(named) and all(word in field_words for word in named)


def template_for(run: GoalContext, branch: Branch, loop: Loop, *, ask: bool) -> str:
    """Return the goal of one item with its fields in braces: by rule, else by the model, else the step (rule P8)."""
    by_rule = rule_template(loop.step, loop.iteration, loop.items[0])
    if by_rule and not ask:
        return by_rule
    fields = formatting.field_names(fields_of(loop.items) or ["item"])
    reply = run.ask(branch.node, QuestionKind.ITEM_GOAL, step=loop.step, fields=fields)
    return reply_parsing.first_line(reply) or by_rule or loop.step
