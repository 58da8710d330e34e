"""The tool that composes: what matters in a project for a question, within a budget."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import make_tool
from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.files import Entry, FileItem
from aggregate.base.request import Task
from aggregate.project.configuration import unconfigured
from aggregate.project.index import user_index
from aggregate.prompt import ALL_FILES, compose_within_budget, open_project, request_for

_MOST_TOKENS: Final = 12_000  # of one result, which a loop sends again with each turn


def add_compose_tool(registry: ToolRegistry, root: Path) -> None:
    def compose(question: str, tokens: int = 4_000) -> str:
        """Show what matters in the project for a question: definitions in full, what surrounds them by signatures.

        Args:
            question: What you need to know, in words or names of the code.
            tokens: How long the answer may be, at most 12,000.
        """
        config = root / "manual_slop.toml"
        project = open_project(
            config if config.exists() else unconfigured(config),
            allow_outside=False,
            allow_secrets=False,
        )
        budget = max(min(tokens, _MOST_TOKENS), 1)
        request = request_for(
            project, with_history=False, task=Task(question), budget=budget, sending=True
        )
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        scope = replace(request.scope, is_fixed=True)  # what allows more is the user's to say
        try:
            composition = compose_within_budget(
                replace(request, entries=entries, scope=scope), index=user_index()
            )
        except BudgetError as error:
            raise ToolError(str(error)) from None
        return composition.prompt.markdown

    registry.add(make_tool(compose))
