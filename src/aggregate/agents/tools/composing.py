"""The tools that know a project as its prompts do: what matters for a question, and where things are defined."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.agents.tools.tool import Permission, make_tool
from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.files import Entry, FileItem
from aggregate.base.request import Task
from aggregate.base.text import printable
from aggregate.project.configuration import unconfigured
from aggregate.project.index import user_index
from aggregate.prompt import (
    ALL_FILES,
    Request,
    SavedCounts,
    compose_within_budget,
    make_sheet,
    open_project,
    request_for,
)
from aggregate.prompt.name_lookup import look_up_name
from aggregate.prompt.ranked_files import rank_files, read_files

_MOST_TOKENS: Final = 12_000  # of one result, which a loop sends again with each turn
_SHEET_TOKENS: Final = 2_000
_MOST_PLACES: Final = 100  # of a name: more answer nothing


@dataclass(frozen=True, slots=True)
class _ComposingTools:
    """The tools; their names, docstrings and signatures are what models are told."""

    root: Path

    def compose(self, question: str, tokens: int = 4_000) -> str:
        """Show what matters in the project for a question: definitions in full, what surrounds them by signatures.

        Args:
            question: What you need to know, in words or names of the code.
            tokens: How long the answer may be, at most 12,000.
        """
        request = self._request(question, budget=max(min(tokens, _MOST_TOKENS), 1))
        try:
            return compose_within_budget(request, index=user_index()).prompt.markdown
        except BudgetError as error:
            raise ToolError(str(error)) from None

    def find_definitions(self, query: str) -> str:
        """Find where a name is defined and used, or the likeliest files and definitions for a task in words.

        Args:
            query: A name, such as parse or Parser.parse, or what you want to change or know.
        """
        if not query.strip():
            raise ToolError("query is empty: give a name, or words that say what you look for")
        request, index = self._request(query.strip()), user_index()
        files = read_files(request, index=index)
        paths = {number: printable(file.path) for number, file in enumerate(files.corpus.files)}
        if lines := look_up_name(files.corpus, query.strip(), paths):
            left = len(lines) - _MOST_PLACES
            more = [f"[{left:,} more are not shown]"] if left > 0 else []
            return "\n".join((*lines[:_MOST_PLACES], *more))
        ranked = rank_files(request, index=index, files=files)
        return make_sheet(ranked, SavedCounts(index), most=_SHEET_TOKENS).text

    def _request(self, question: str, *, budget: int | None = None) -> Request:
        config = self.root / "manual_slop.toml"
        project = open_project(
            config if config.exists() else unconfigured(config),
            allow_outside=False,
            allow_secrets=False,
        )
        request = request_for(
            project, with_history=False, task=Task(question), budget=budget, sending=True
        )
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        scope = replace(request.scope, is_fixed=True)  # what allows more is the user's to say
        return replace(request, entries=entries, scope=scope)


def add_composing_tools(registry: ToolRegistry, root: Path) -> None:
    tools = _ComposingTools(root)
    for function in (tools.compose, tools.find_definitions):
        registry.add(make_tool(function, permissions=Permission.READ))
