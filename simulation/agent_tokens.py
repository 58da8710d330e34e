"""What an agent reads and pays until it has seen the lines that it must change, with different tools.

``python -m simulation.agent_tokens CLONE... [--commits N]`` takes the newest suitable commits of clones: the message
is the question, the parent the tree, and a scripted agent looks until it has been shown every line that the commit has
changed in sources, or has made ``MOST_CALLS`` calls.

- ``aggregate mcp``: ``compose``, then ``read`` of the files that the account names, the likeliest first.
- ``grep and read``: the rarest words of the message are searched for, then the files with most of them are read whole,
  in pages as agents' own tools have them.
- ``pasting``: somebody who knows the answer pastes the changed files whole.

That tells what it costs to get to the lines by a fixed policy. It says nothing of how well a model would choose its
next step, and stops as no model could: when all has been seen.

``read`` are the tokens of all answers. ``paid`` are those that a model without a cache is sent: with each call the
schemas of the tools and all that was said before.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from json import dumps
from pathlib import Path
from statistics import mean

from aggregate.mcp.arguments import schema_of
from aggregate.mcp.composing import audit_of_prompt
from aggregate.mcp.tools import TOOLS, call_tool
from aggregate.mcp.workspace import Connection, Workspace, silent
from aggregate.project.index import user_index
from aggregate.ranking.terms import NO_TERMS
from simulation.prompt_makers import recount
from simulation.recall_metrics import read_blocks, shown_lines
from simulation.task_commits import TaskCommit, Tree, kind_of, task_commits

MOST_CALLS = 20
"""After so many an agent has given up, or has asked its user."""
_PAGE = 2_000
"""Lines of a file that agents' own tools read at once."""
_MATCHES = 100
"""Lines that agents' own tools return of a search."""
_WORDS = 4
"""Words of a message that are searched for."""
_OWN_TOOLS = [
    {
        "name": "grep",
        "description": "Search the files of the project for a regular expression; returns lines with path and number.",
        "inputSchema": {
            "type": "object",
            "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
            "required": ["pattern"],
        },
    },
    {
        "name": "read",
        "description": "Read a file, at most 2,000 lines at once, from an offset.",
        "inputSchema": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}},
            "required": ["path"],
        },
    },
]


@dataclass(slots=True)
class Session:
    """What an agent has asked and been told.

    Attributes:
        schema: Tokens of the descriptions of its tools.
        answers: Tokens of each answer.
        missing: The lines that it has not seen, by path.
    """

    schema: int
    missing: dict[str, set[int]]
    answers: list[int] = field(default_factory=list)

    @classmethod
    def about(cls, commit: TaskCommit, schema: int) -> "Session":
        """Return a session in which nothing was seen of what a commit changes."""
        return cls(schema, {file.path: set(file.lines) for file in commit.sources})

    @property
    def is_over(self) -> bool:
        """Whether all was seen, or the agent has given up."""
        return not any(self.missing.values()) or len(self.answers) >= MOST_CALLS

    @property
    def paid(self) -> int:
        """Tokens that the model is sent in all calls."""
        said = 0
        total = 0
        for answer in self.answers:
            total += self.schema + said
            said += answer
        return total + self.schema + said

    def hear(self, answer: str) -> None:
        """Take an answer."""
        self.answers.append(recount(answer))

    def see(self, path: str, lines: Sequence[int] | range | set[int]) -> None:
        """Take lines of a file as seen."""
        self.missing.get(path, set()).difference_update(lines)


@dataclass(frozen=True, slots=True)
class Row:
    """How one agent fared with one question."""

    agent: str
    session: Session

    @property
    def has_seen_all(self) -> bool:
        """Whether every changed line was shown."""
        return not any(self.session.missing.values())


def ours(tree: Path, commit: TaskCommit) -> Session:
    """Look with the tools of ``aggregate mcp``."""
    tools = [
        {"name": name, "description": tool.description, "inputSchema": schema_of(tool.arguments)}
        for name, tool in TOOLS.items()
    ]
    session = Session.about(commit, recount(dumps(tools)))
    workspace = Workspace(tree / "manual_slop.toml", index=user_index())
    connection = Connection()

    def call(tool: str, arguments: dict[str, object]) -> str:
        answer = call_tool(
            tool, arguments, workspace=workspace, connection=connection, progress=silent
        )
        session.hear(answer)
        return answer

    blocks = read_blocks(call("compose", {"task": commit.message}))
    texts = {file.path: file.text for file in commit.sources}
    for path, text in texts.items():
        session.see(path, shown_lines(blocks.get(path, []), text))
    rows = audit_of_prompt(workspace, workspace.prompt(connection.last_prompt)).rows
    for row in sorted(rows, key=lambda row: row.rank or len(rows)):
        first = 1
        while not session.is_over and kind_of(row.path).is_code:
            answer = call("read", {"path": row.path, "lines": f"{first}-"})
            match = re.match(r".*? lines? ([\d,]+)(?:-([\d,]+))? of ([\d,]+)", answer)
            if match is None:
                break
            last = int((match[2] or match[1]).replace(",", ""))
            session.see(row.path, range(first, last + 1))
            first = last + 1
            if first > int(match[3].replace(",", "")):
                break
        if session.is_over:
            break
    return session


def grep_and_read(tree: Path, commit: TaskCommit) -> Session:
    """Look by searching for words and reading whole files."""
    session = Session.about(commit, recount(dumps(_OWN_TOOLS)))
    texts = dict(_texts(tree))
    words = [word for word in re.findall(r"\w{3,}", commit.message) if word.lower() not in NO_TERMS]
    found_in = {
        word: [path for path, text in texts.items() if re.search(rf"\b{re.escape(word)}\b", text)]
        for word in dict.fromkeys(words)
    }
    rarest = sorted((word for word in found_in if found_in[word]), key=lambda w: len(found_in[w]))
    hits: Counter[str] = Counter()
    for word in rarest[:_WORDS]:
        lines = [
            f"{path}:{number}: {line}\n"
            for path in found_in[word]
            for number, line in enumerate(texts[path].splitlines(), start=1)
            if re.search(rf"\b{re.escape(word)}\b", line)
        ]
        session.hear("".join(lines[:_MATCHES]))
        hits.update(found_in[word])
    for path in sorted(hits, key=lambda path: (kind_of(path).is_test, -hits[path], path)):
        lines = texts[path].splitlines(keepends=True)
        for first in range(0, len(lines), _PAGE):
            if session.is_over:
                return session
            session.hear("".join(lines[first : first + _PAGE]))
            session.see(path, range(first + 1, first + _PAGE + 1))
    return session


def pasting(_tree: Path, commit: TaskCommit) -> Session:
    """Paste the changed files whole."""
    session = Session.about(commit, 0)
    session.hear("".join(file.text for file in commit.sources))
    session.missing.clear()
    return session


AGENTS = {"aggregate mcp": ours, "grep and read": grep_and_read, "pasting": pasting}


def _texts(tree: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and not name.startswith(".git/") and kind_of(name).is_code:
            yield name, path.read_bytes().decode("utf-8", "replace")


def measure(clone: Path, commits: int) -> Iterator[Row]:
    """Let each agent answer the questions of a clone."""
    with tempfile.TemporaryDirectory() as name:
        tree = Tree(clone, Path(name, "tree"))
        for commit in task_commits(clone, commits):
            tree.check_out(commit.parent)
            for agent, look in AGENTS.items():
                yield Row(agent, look(tree.folder, commit))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="Count what agents read and pay.")
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE")
    parser.add_argument("--commits", type=int, default=2)
    options = parser.parse_args()
    rows = [row for clone in options.clones for row in measure(clone.resolve(), options.commits)]
    print("| agent | questions | all seen | calls | read | schemas | paid |")
    print("|---|---|---|---|---|---|---|")
    for agent in AGENTS:
        sessions = [row for row in rows if row.agent == agent]
        print(
            f"| {agent} | {len(sessions)} | {sum(row.has_seen_all for row in sessions)}"
            f" | {mean(len(row.session.answers) for row in sessions):.1f}"
            f" | {mean(sum(row.session.answers) for row in sessions):,.0f}"
            f" | {mean(row.session.schema for row in sessions):,.0f}"
            f" | {mean(row.session.paid for row in sessions):,.0f} |"
        )


if __name__ == "__main__":
    main()
