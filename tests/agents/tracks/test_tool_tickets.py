"""Tickets with tools: the context for the plan and the answer, small questions for the steps between."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from aggregate import FinishReason, Prompt, Reply, RunStatus, Segment, Usage, standard_tools
from aggregate.agents.tracks import WorkerTerms
from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.attempt import Attempt, attempt_assignment
from aggregate.agents.tracks.worker import ModelWorker
from aggregate.base.values import Section, Stability
from aggregate.sending.clients.client import ScriptedTransport, scripted_client
from aggregate.sending.clients.gemini_cli import input_text
from aggregate.sending.clients.protocol import ModelRequest

CONTEXT = Prompt(
    (Segment(Section.FILES, "## Files\n\n" + "many words of files " * 300, Stability.STABLE),)
)
ASKED = Assignment(
    "r/a",
    "a",
    CONTEXT,
    "## Task: a\n\nSay which number notes.txt holds.",
    persona="Be brief.",
    tools=("read_file",),
    task="Say which number notes.txt holds.",
)
PLAN = {
    "Split the goal": "1. Read notes.txt",
    "Give the arguments": '{"path": "notes.txt"}',
    "Which tool": "read_file",
}
FINAL = {"What the steps found": "It holds forty-two."}


@dataclass
class Script:
    answers: dict[str, str | Reply]
    asked: list[ModelRequest] = field(default_factory=list)

    def __call__(self, request: ModelRequest) -> str | Reply:
        self.asked.append(request)
        text = input_text(request.plan)
        return next((reply for words, reply in self.answers.items() if words in text), "yes")

    @property
    def texts(self) -> list[str]:
        return [input_text(request.plan) for request in self.asked]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("forty-two", encoding="utf-8")
    return tmp_path


def attempt(
    root: Path, script: Script, *, max_tokens: int | None = None, max_steps: int | None = None
) -> Attempt:
    worker = ModelWorker(scripted_client(script), root=root)
    asked = replace(ASKED, max_tokens=max_tokens, max_steps=max_steps)
    return attempt_assignment(worker, asked, 1)


def test_the_context_stands_before_the_plan_and_the_answer_alone(root: Path) -> None:
    """Both begin with the same bytes; questions of steps carry what they need, and tools read the rest."""
    script = Script({**FINAL, **PLAN})
    made = attempt(root, script)
    assert (made.status, made.text, made.warning) == (RunStatus.SUCCESS, "It holds forty-two.", "")
    with_context = ["many words of files" in text for text in script.texts]
    assert (with_context[0], with_context[-1]) == (True, True)
    assert not any(with_context[1:-1])
    assert len(with_context) > 2
    beginning = f"Be brief.\n\n{CONTEXT.markdown}\n\n"
    assert all(script.texts[place].startswith(beginning) for place in (0, -1))
    assert script.asked[0].schema is None  # a form would stand before the context
    assert all(len(text) < 2_000 for text in script.texts[1:-1])
    assert "forty-two" in script.texts[-1]
    assert script.texts[-1].endswith(ASKED.message)


def test_the_second_request_reads_the_context_from_a_cache(root: Path) -> None:
    """What the plan has written to a provider's cache the answer reads."""
    client = scripted_client(Script({**FINAL, **PLAN}))
    assert isinstance(client.transport, ScriptedTransport)
    large = Prompt((Segment(Section.FILES, "## Files\n\n" + "word " * 9_000, Stability.STABLE),))
    begun: list[None] = []
    reply = ModelWorker(client, root=root).work(
        replace(ASKED, prompt=large), lambda: begun.append(None)
    )
    assert begun  # once the plan is there, others may start
    usages = [each.plan for each in client.transport.requests]
    assert usages[0].layout.breakpoints[-1] in usages[-1].layout.ends
    assert 18_000 < reply.tokens < 20_000


@pytest.mark.parametrize(
    ("answers", "fields", "error"),
    [
        ({**PLAN, "Split the goal": "1. Read lost.txt", "Give the arguments": '{"path": "lost.txt"}'}, {}, "no file of the project"),
        ({**PLAN, "Split the goal": "1. Read notes.txt\n2. Read lost.txt", "lost.txt\nParameters": '{"path": "lost.txt"}'}, {}, 'its last step, "Read lost.txt", failed'),
        ({**PLAN, "What the steps found": Reply(" \n", Usage())}, {}, "the model answered nothing (end)"),
        ({**PLAN, "What the steps found": Reply("", Usage(), FinishReason.REFUSED)}, {}, "the model refused to answer"),
        ({**PLAN, **FINAL}, {"max_tokens": 3_000}, "is sent with the plan and with the answer, which exceeds max_tokens, 3,000"),
    ],
)  # fmt: skip
def test_what_is_no_answer_has_failed(
    root: Path, answers: dict[str, str | Reply], fields: dict[str, int], error: str
) -> None:
    """A ticket whose last step did not produce an answer is no success with what an earlier one gave."""
    ordered = {words: answers[words] for words in reversed(answers)}
    made = attempt(root, Script(ordered), **fields)
    assert made.status is RunStatus.ERROR
    assert error in made.text
    if "max_tokens" not in fields:  # else nothing was sent
        assert made.tokens > 0


def test_warnings_of_steps_are_not_dropped(root: Path) -> None:
    """A step that failed before the last one is named beside the answer, and the model is told of it."""
    lost = {"lost.txt\nParameters": '{"path": "lost.txt"}'}
    plan = {"Split the goal": "1. Read the file lost.txt\n2. Read the file notes.txt"}
    script = Script({**FINAL, **lost, **PLAN, **plan})
    made = attempt(root, script)
    assert (made.status, made.text) == (RunStatus.SUCCESS, "It holds forty-two.")
    assert "Step 1 (Read the file lost.txt) failed" in made.warning
    assert "This step failed:" in script.texts[-1]


def test_steps_are_limited(root: Path) -> None:
    """No more steps are planned than the ticket allows, and the worker's user may allow fewer."""
    plan = {"Split the goal": "1. Read notes.txt\n2. Read it again\n3. Read more"}
    script = Script({**FINAL, **PLAN, **plan})
    made = attempt(root, script, max_steps=2)
    assert "2 at the most" in script.texts[0]
    assert "the most is 2" in made.warning


def test_own_tools(root: Path) -> None:
    """Tools of the user's own folder are called as those that come with the package."""

    def count_words(text: str) -> int:
        """Count the words of a text."""
        return len(text.split())

    registry = standard_tools(roots=(root,))
    registry.register("count_words", count_words)
    plan = {"Split the goal": "1. Count words", "Give the arguments": '{"text": "a b c"}'}
    script = Script({**FINAL, **plan, "Which tool": "count_words"})
    worker = ModelWorker(scripted_client(script), root=root, terms=WorkerTerms(tools=registry))
    made = attempt_assignment(worker, replace(ASKED, tools=("count_words",)), 1)
    assert (made.status, "3" in script.texts[-1]) == (RunStatus.SUCCESS, True)
    assert "read_file" not in "".join(script.texts)
    unknown = attempt_assignment(worker, replace(ASKED, tools=("fly",)), 1)
    assert (unknown.again, "Tool not found: fly" in unknown.text) == (False, True)
