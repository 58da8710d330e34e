"""Tools to compose a project's context and find its definitions."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import Task
from aggregate.base.text import printable
from aggregate.project.configuration import unconfigured
from aggregate.project.index import user_index
from aggregate.prompt import SavedCounts, compose_within_budget, request_for
from aggregate.prompt.asking import ALL_FILES, Request, open_project
from aggregate.prompt.corpus import look_up_name, make_sheet, rank_files, read_files

_MOST_TOKENS: Final = 12_000  # of one result, which a loop sends again with each turn
_SHEET_TOKENS: Final = 2_000
_MOST_PLACES: Final = 100  # of a name: more answer nothing


class _ComposingTools:
    """The tools over a project; models see their names, docstrings and signatures."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def compose(self, question: str, tokens: int = 4_000) -> str:
        """Show the code that a question is about: definitions in full, their surroundings as signatures.

        Args:
            question: Your question, in words or names of the code.
            tokens: The most tokens of the answer, at most 12,000.
        """
        request = self._request(question, budget=max(min(tokens, _MOST_TOKENS), 1))
        try:
            return compose_within_budget(request, index=user_index()).prompt.markdown
        except BudgetError as error:
            raise ToolError(str(error)) from None

    def find_definitions(self, query: str) -> str:
        """Find where a name is defined and used, or the likeliest files and definitions for a task.

        Args:
            query: A name, such as parse or Parser.parse, or a task in words.
        """
        if not query.strip():
            raise ToolError("query is empty: give a name or a task")
        request, index = self._request(query.strip()), user_index()
        corpus = read_files(request, index=index)
        paths = {number: printable(file.path) for number, file in enumerate(corpus.files)}
        if lines := look_up_name(corpus, query.strip(), paths):
            hidden = len(lines) - _MOST_PLACES
            more = [f"[{hidden:,} more are not shown]"] if hidden > 0 else []
            return "\n".join((*lines[:_MOST_PLACES], *more))
        ranked = rank_files(request, index=index, files=corpus)
        return make_sheet(ranked, SavedCounts(index), most=_SHEET_TOKENS).text

    def _request(self, question: str, *, budget: int | None = None) -> Request:
        config = self._root / "manual_slop.toml"
        project = open_project(
            config if config.exists() else unconfigured(config),
            allow_outside=False,
            allow_secrets=False,
        )
        request = request_for(
            project, with_history=False, task=Task(question), budget=budget, sending=True
        )
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        scope = replace(request.scope, is_fixed=True)  # only the user may allow more
        return replace(request, entries=entries, scope=scope)


def add_composing_tools(registry: ToolRegistry, root: Path) -> None:
    registry.add_methods(_ComposingTools(root))
