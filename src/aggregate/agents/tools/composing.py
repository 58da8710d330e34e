"""A project as agents may read it, and tools to compose its context and find its definitions."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.agents.tools.registry import ToolRegistry
from aggregate.base.errors import BudgetError, ToolError
from aggregate.base.files import Entry, FileItem
from aggregate.base.task_budget import Finish, Task
from aggregate.base.text import printable
from aggregate.project.configuration import unconfigured
from aggregate.project.index import Index, user_index
from aggregate.prompt import SavedCounts, compose_within_budget, request_for
from aggregate.prompt.asking import ALL_FILES, Request, open_project
from aggregate.prompt.corpus import FileCorpus, look_up_name, make_sheet, rank_files, read_files

_MOST_TOKENS: Final = 12_000  # of one result, which a loop sends again with each turn
_SHEET_TOKENS: Final = 2_000
_MOST_PLACES: Final = 100  # of a name: more answer nothing


class ReadableProject:
    """A project with the permissions of an agent; its configuration is read again for each request."""

    def __init__(self, config: Path, index: Index | None = None) -> None:
        self._config = config
        self.index = index or user_index()
        self.count = SavedCounts(self.index)

    def request(
        self, task: Task | None = None, *, budget: int | None = None, finish: Finish | None = None
    ) -> Request:
        config = self._config if self._config.exists() else unconfigured(self._config)
        request = request_for(
            open_project(config, allow_outside=False, allow_secrets=False),
            with_history=False,
            task=task or Task(),
            budget=budget,
            sending=True,
            finish=finish,
        )
        entries = request.entries or (Entry(FileItem(ALL_FILES)),)
        scope = replace(request.scope, is_fixed=True)  # only the user may allow more
        task = request.task if task else None
        return replace(request, entries=entries, scope=scope, task=task)

    def sheet(self, request: Request, files: FileCorpus, *, most: int) -> str:
        """Return the likeliest files and definitions for a request's task."""
        ranked = rank_files(request, index=self.index, files=files)
        return make_sheet(ranked, self.count, most=most).text


class _ComposingTools:
    """The tools over a project; models see their names, docstrings and signatures."""

    def __init__(self, root: Path) -> None:
        self._config = root / "manual_slop.toml"

    def compose(self, question: str, tokens: int = 4_000) -> str:
        """Show the code that a question is about: definitions in full, their surroundings as signatures.

        Args:
            question: Your question, in words or names of the code.
            tokens: The most tokens of the answer, at most 12,000.
        """
        project = ReadableProject(self._config)
        request = project.request(Task(question), budget=max(min(tokens, _MOST_TOKENS), 1))
        try:
            return compose_within_budget(request, index=project.index).prompt.markdown
        except BudgetError as error:
            raise ToolError(str(error)) from None

    def find_definitions(self, query: str) -> str:
        """Find where a name is defined and used, or the likeliest files and definitions for a task.

        Args:
            query: A name, such as parse or Parser.parse, or a task in words.
        """
        query = query.strip()
        if not query:
            raise ToolError("query is empty: give a name or a task")
        project = ReadableProject(self._config)
        request = project.request(Task(query))
        corpus = read_files(request, index=project.index)
        paths = {number: printable(file.path) for number, file in enumerate(corpus.files)}
        if lines := look_up_name(corpus, query, paths):
            hidden = len(lines) - _MOST_PLACES
            more = [f"[{hidden:,} more are not shown]"] if hidden > 0 else []
            return "\n".join((*lines[:_MOST_PLACES], *more))
        return project.sheet(request, corpus, most=_SHEET_TOKENS)


def add_composing_tools(registry: ToolRegistry, root: Path) -> None:
    registry.add_methods(_ComposingTools(root))
