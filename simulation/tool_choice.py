"""How often the right tool is chosen for a goal.

The goals, and the tools that do them, stand in ``simulation/tool_choice_goals``. The model behind is perfect as far as
it can be: it names the right tool where that is among those that it is shown, and none otherwise. What is measured is
whether the model is shown the right tool, with how many questions and tokens.

A second table is of goals whose words mislead: tools that sound alike, one and several, synonyms, negations, and what
no tool does. No rule may decide one of these wrongly.
"""

import re
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.fakes.activities import activity_tools

from aggregate import ToolRegistry, standard_tools
from aggregate.agents.goals.calls import Branch, GoalContext, StepFailed, choose_tool
from aggregate.agents.goals.goal_result import Trace, TraceKind
from aggregate.agents.goals.questions import Completion, Question
from aggregate.agents.limits import BudgetTracker, EngineLimits
from aggregate.agents.tools import Parameter, Permission, Tool

FOLDER = Path(__file__).parent / "tool_choice_goals"
HALVES = ("tuning", "held_back")
DOUBTFUL = "doubtful"
LEAST_RIGHT = 0.95
_TOOL = re.compile(r"(?P<name>\w+)\((?P<parameters>[^)]*)\): (?P<description>.+)")


@dataclass(frozen=True, slots=True)
class ToolGoal:
    """A goal that one tool does in one call."""

    tools: str
    text: str
    expected: tuple[str, ...]


@dataclass(slots=True)
class PerfectModel:
    """Names the right tool where it is shown, and none otherwise."""

    expected: tuple[str, ...]
    asked: list[Question] = field(default_factory=list)

    def ask(self, question: Question) -> Completion:
        """Answer the question for a tool."""
        self.asked.append(question)
        shown = re.findall(r"^(\w+)\(", question.text, re.MULTILINE)
        right = [name for name in shown if name in self.expected]
        return Completion(right[0] if right else "NONE", len(question.text) // 4)


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for a goal."""

    goal: ToolGoal
    name: str
    questions: int
    tokens: int

    @property
    def right(self) -> bool:
        """Whether it is the tool that does the goal, or none where none does."""
        return self.name in self.goal.expected if self.goal.expected else not self.name


def goals(name: str) -> Iterator[ToolGoal]:
    """Yield the goals of one half, or the doubtful ones."""
    tables = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    for tools, table in tables.items():
        for text, names in table.items():
            yield ToolGoal(tools, text, tuple(names.split()))


def tool_sets(state_dir: Path) -> dict[str, ToolRegistry]:
    """Return the sets of tools by name."""
    sets = {
        "project": standard_tools(state_dir=state_dir, roots=["."]),
        "activities": standard_tools(state_dir=state_dir),
    }
    for tool in activity_tools("http://127.0.0.1:9"):
        sets["activities"].add(tool)
    lines = tomllib.loads((FOLDER / "tools.toml").read_text(encoding="utf-8"))
    return sets | {name: ToolRegistry.of(map(read_tool, table)) for name, table in lines.items()}


def read_tool(line: str) -> Tool:
    """Return the tool of a line such as ``getPrice(article_id: int): Get its price.``."""
    match = _TOOL.fullmatch(line)
    if match is None:
        raise ValueError(f"this is no tool: {line}")
    parameters = []
    for part in filter(None, match["parameters"].split(", ")):
        name, _, type_name = part.partition(": ")
        parameters.append(Parameter(name.rstrip("?"), type_name, required="?" not in name))
    permissions = frozenset({Permission.READ})
    return Tool(
        match["name"],
        _nothing,
        match["description"],
        tuple(parameters),
        "dict",
        permissions,
        repeatable=True,
    )


def _nothing(**arguments: object) -> dict[str, Any]:
    return {"success": True, **arguments}


def choose(goal: ToolGoal, tools: ToolRegistry, folder: Path) -> Choice:
    """Choose a tool for a goal that is one step."""
    model = PerfectModel(goal.expected)
    limits = EngineLimits()
    run = GoalContext(model, tools, limits, BudgetTracker(limits), folder)
    branch = Branch(run, goal.text, 0, Trace(TraceKind.GOAL, "goal", goal.text))
    try:
        tool = choose_tool(branch, goal.text)
        name = tool.name if tool else ""
    except StepFailed as error:
        name = str(error)
    return Choice(goal, name, len(model.asked), run.budget.tokens)


def choices(name: str, choose_one: Callable[..., Choice] = choose) -> list[Choice]:
    """Choose tools for all goals of one half, or for the doubtful ones."""
    with TemporaryDirectory() as folder:
        sets = tool_sets(Path(folder))
        return [choose_one(goal, sets[goal.tools], Path(folder)) for goal in goals(name)]


def table(half: str, made: Sequence[Choice]) -> str:
    """Return a row of figures."""
    by_rules = [choice for choice in made if not choice.questions]
    asked = [choice for choice in made if choice.questions]
    right = sum(choice.right for choice in made)
    wrong_and_sure = sum(not choice.right for choice in by_rules)
    questions = sum(choice.questions for choice in asked) / max(1, len(asked))
    tokens = sum(choice.tokens for choice in asked) / max(1, len(asked))
    return (
        f"{half:10} {len(made):5} {right:5} {right / len(made):6.0%} {len(by_rules):8} {wrong_and_sure:10}"
        f" {len(asked):6} {questions:9.2f} {tokens:7.0f}"
    )


def doubtful_table(made: Sequence[Choice]) -> str:
    """Return how the doubtful goals were decided."""
    by_rules = [choice.right for choice in made if not choice.questions]
    right, asked = sum(choice.right for choice in made), len(made) - len(by_rules)
    return (
        "goals          n right  asks wrong+sure\n"
        f"{DOUBTFUL:10} {len(made):5} {right:5} {asked:5} {by_rules.count(False):10}"
    )


def _wrong(made: Sequence[Choice]) -> Iterator[str]:
    for choice in made:
        if not choice.right:
            sure = "" if choice.questions else ", and sure"
            expected = " or ".join(choice.goal.expected) or "none"
            yield f'  "{choice.goal.text}": {choice.name}, not {expected}{sure}'


def _never_wrong_and_sure(made: Sequence[Choice]) -> bool:
    return all(choice.right or choice.questions for choice in made)


def main(parser: ArgumentParser) -> None:
    """Print how many choices were right, and each that was not."""
    parser.add_argument("half", nargs="?", choices=HALVES, help="this half alone")
    half = parser.parse_args().half
    print("goals          n right  share by rules wrong+sure  asked questions  tokens")
    is_good = True
    for name in [half] if half else HALVES:
        made = choices(name)
        print("\n".join([table(name, made), *_wrong(made)]))
        share = sum(choice.right for choice in made) / len(made)
        is_good = is_good and _never_wrong_and_sure(made) and share >= LEAST_RIGHT
    doubtful = choices(DOUBTFUL)
    print("\n".join(["", doubtful_table(doubtful), *_wrong(doubtful)]))
    sys.exit(not (is_good and _never_wrong_and_sure(doubtful)))
