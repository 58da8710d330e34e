"""A worker without a model: it answers by a script, or says what it was given.

There are three doubles, one for each thing that asks. What tells the answers apart is what is asked: this one has them
by ticket, ``agent.scripted_model`` by question, and ``clients.scripted_client`` in the order of the requests, for a
request has no name. Files of answers have one form: see ``clients.script_file``.
"""

import time
from collections.abc import Callable, Mapping

from aggregate.agents.tracks.assignment import Assignment, WorkerReply
from aggregate.agents.tracks.assignment_tokens import AssignmentTokens
from aggregate.base.errors import WorkerError
from aggregate.base.tokens import count
from aggregate.base.values import Section
from aggregate.sending.clients import ScriptedReply


class ScriptedWorker:
    """Answers by ticket id; without an answer it describes what it was given. The same assignment, the same answer."""

    def __init__(self, answers: Mapping[str, ScriptedReply]) -> None:
        self._answers = answers
        self._tokens = AssignmentTokens()

    def work(self, assignment: Assignment, begun: Callable[[], None]) -> WorkerReply:
        """Return the scripted answer, or fail as the script says; it begins at once and ends after its time."""
        begun()
        answer = self._answers.get(assignment.ticket)
        if answer is None:
            tokens = self._tokens.count(assignment)
            return WorkerReply(describe_assignment(assignment, tokens), tokens, cost=0.0)
        time.sleep(answer.seconds)
        if error := answer.failure(assignment.attempt):
            raise WorkerError(error, again=not answer.refuse)
        tokens = self._tokens.count(assignment) + count(answer.text)
        return WorkerReply(answer.text, tokens, cost=answer.cost)


def describe_assignment(assignment: Assignment, tokens: int) -> str:
    """Return one paragraph on what an assignment of so many tokens holds."""
    sources = [
        (segment.section, segment.source)
        for segment in assignment.prompt.segments
        if segment.source
    ]
    files = [source for section, source in sources if section is Section.FILES]
    results = [source for section, source in sources if section is Section.RESULTS]
    task = assignment.message.strip().split("\n")[-1]
    file_or_files = "file" if len(files) == 1 else "files"
    and_results = f"the results {', '.join(results)}" if results else "no results"
    return (
        f"No model was asked: the scripted worker was given {tokens:,} tokens "
        f"with {len(files):,} {file_or_files} and {and_results}. The task is: {task}"
    )
