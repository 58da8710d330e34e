"""Tickets with tools, and what tickets cost: every request counts, whatever became of its attempt."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from aggregate import (
    ConfigError,
    FinishReason,
    Prompt,
    ProviderError,
    Reply,
    RunStatus,
    Usage,
    count,
    open_project,
    standard_tools,
)
from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms, preview
from aggregate.agents.tracks.terms import check_prices
from aggregate.sending.clients import cost
from tests.fakes.conducting import asking, assigned, attempted, tickets_of, track_project
from tests.fakes.prompts import part
from tests.fakes.transports import requests_of, scripted, whole_text
from tests.fakes.user_files import by_user

CONTEXT = Prompt((part("files", "## Files\n\n" + "many words of files " * 300),))
ASKED = assigned(
    "a",
    prompt=CONTEXT,
    message="## Task: a\n\nSay which number notes.txt holds.",
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
    asked: list[Any] = field(default_factory=list)

    def __call__(self, request: Any) -> str | Reply:
        self.asked.append(request)
        text = whole_text(request)
        return next((reply for words, reply in self.answers.items() if words in text), "yes")

    @property
    def texts(self) -> list[str]:
        return [whole_text(request) for request in self.asked]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("forty-two", encoding="utf-8")
    return tmp_path


def attempt(
    root: Path, script: Script, *, max_tokens: int | None = None, max_steps: int | None = None
) -> Any:
    worker = asking(scripted(script), root=root)
    asked = replace(ASKED, max_tokens=max_tokens, max_steps=max_steps)
    return attempted(worker, asked)


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
    client = scripted(Script({**FINAL, **PLAN}))
    large = Prompt((part("files", "## Files\n\n" + "word " * 9_000),))
    begun: list[None] = []
    reply = asking(client, root=root).work(replace(ASKED, prompt=large), lambda: begun.append(None))
    assert begun  # once the plan is there, others may start
    usages = [each.plan for each in requests_of(client)]
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
    assert (made.tokens > 0) is ("max_tokens" not in fields)  # else nothing was sent


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
    worker = asking(scripted(script), root=root, terms=WorkerTerms(tools=registry))
    made = attempted(worker, replace(ASKED, tools=("count_words",)))
    assert (made.status, "3" in script.texts[-1]) == (RunStatus.SUCCESS, True)
    assert "read_file" not in "".join(script.texts)
    unknown = attempted(worker, replace(ASKED, tools=("fly",)))
    assert (unknown.again, "Tool not found: fly" in unknown.text) == (False, True)


MODEL = "claude-sonnet-5"
USAGE = Usage(fresh=1_000, output=100)


@pytest.fixture(autouse=True)
def _no_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


@dataclass
class Counted:
    script: Script
    usage: Usage = field(default_factory=Usage)

    def __call__(self, request: Any) -> Reply:
        answer = self.script(request)
        reply = answer if isinstance(answer, Reply) else Reply(answer, USAGE)
        self.usage += reply.usage
        return reply

    @property
    def dollars(self) -> float:
        return float(cost(self.usage, MODEL, provider="anthropic") or Decimal(0))


def charged(
    root: Path, answer: Callable[[Any], str | Reply], *, asked: Any = ASKED, model: str = MODEL
) -> Any:
    (root / "notes.txt").write_text("forty-two", encoding="utf-8")
    client = scripted(answer, "anthropic", model=model)
    return attempted(asking(client, root=root), asked)


def test_an_answer_has_its_price(tmp_path: Path) -> None:
    """The plan, the steps and the answer are counted, so that max_cost can be kept."""
    counted = Counted(Script({**FINAL, **PLAN}))
    made = charged(tmp_path, counted)
    assert made.status is RunStatus.SUCCESS
    assert made.cost == pytest.approx(counted.dollars)
    assert made.tokens == counted.usage.input + counted.usage.output


@pytest.mark.parametrize("final", [Reply("", USAGE, FinishReason.REFUSED), Reply(" ", USAGE), None])
def test_a_failed_attempt_was_paid_for(tmp_path: Path, final: Reply | None) -> None:
    """A model that refuses or says nothing, and a provider that fails, cost what was asked before and then."""
    counted = Counted(Script({"What the steps found": final or "", **PLAN}))

    def answer(request: Any) -> Reply:
        if final is None and "What the steps found" in str(request.plan):
            raise ProviderError("it is down", status=400)
        return counted(request)

    made = charged(tmp_path, answer)
    assert made.status is RunStatus.ERROR
    assert made.cost == pytest.approx(counted.dollars)
    assert (made.cost or 0) > 0
    assert made.tokens == counted.usage.input + counted.usage.output
    assert made.again is (final is not None and final.stop is not FinishReason.REFUSED)


def test_an_attempt_whose_time_is_over_was_paid_for(tmp_path: Path) -> None:
    """What had been answered until then is counted; the request that was under way is not known."""
    counted, over = Counted(Script({**FINAL, **PLAN})), Event()

    def answer(request: Any) -> Reply:
        if counted.usage.output > USAGE.output:
            over.wait(10)
        return counted(request)

    made = charged(tmp_path, answer, asked=replace(ASKED, timeout=1))
    known = cost(USAGE + USAGE, MODEL, provider="anthropic")
    over.set()
    assert made.status is not RunStatus.SUCCESS  # the goal's own limit may be reached first
    assert made.cost == pytest.approx(float(known or 0))
    assert made.tokens == 2_200


@pytest.mark.parametrize("tools", [ASKED.tools, ()])
def test_a_server_that_reports_nothing_is_not_free(tmp_path: Path, tools: tuple[str, ...]) -> None:
    """Without tokens the price is that of our own counts: a run with max_cost must not go on as if it were nothing."""
    script = Script({**FINAL, **PLAN})
    asked = replace(ASKED, tools=tools)
    made = charged(tmp_path, lambda request: Reply(str(script(request)), Usage()), asked=asked)
    ours = sum(map(count, (asked.text, asked.persona)))
    assert made.status is RunStatus.SUCCESS
    assert made.tokens >= ours
    least = cost(Usage(fresh=ours), MODEL, provider="anthropic")
    assert made.cost is not None
    assert made.cost >= float(least or 0) > 0


def write_price(**prices: float) -> None:
    lines = "\n".join(f"{name} = {price}" for name, price in prices.items())
    by_user(f'[models."{MODEL}"]\n{lines}\n')


@pytest.mark.parametrize("dear", [False, True])
def test_what_is_read_from_a_cache_counts_at_the_users_price(tmp_path: Path, dear: bool) -> None:
    """A limit of tokens counts them as the user's table says, which goes before the shipped one."""
    write_price(input=3, output=15, cache_read=3 if dear else 0.3)
    reading = Usage(cache_read=2_000, output=10)
    script = Script({**FINAL, **PLAN})
    asked = replace(ASKED, max_tokens=8_500)
    made = charged(tmp_path, lambda request: Reply(str(script(request)), reading), asked=asked)
    assert made.status is (RunStatus.ERROR if dear else RunStatus.SUCCESS)


def test_a_preview_of_lists_and_approvals(tmp_path: Path) -> None:
    """A list's files are named by items that are not there yet, and no model is paid for a person's decision."""
    tickets = (
        Ticket(id="list", prompt="x"),
        Ticket.model_validate(
            {"id": "gate", "prompt": "May it?", "kind": "approval", "depends_on": ("list",)}
        ),
        Ticket(id="look", prompt="x", for_each="results.list", focus_files=("{{item}}",)),
    )
    folder = track_project(tmp_path, '[[tickets]]\nid = "a"\nprompt = "x"\n')
    terms = WorkerTerms("anthropic", MODEL)
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"), terms=terms)
    steps = {step.ticket.id: step for step in preview(tickets_of(tickets), contexts)}
    assert [steps[name].cost is None for name in ("list", "gate", "look")] == [False, True, False]


def test_a_preview_knows_the_users_cache(tmp_path: Path) -> None:
    """What it expects to be read follows the user's table, as a turn does (S-8)."""
    by_user('[models."claude-sonnet-5"]\nminimum = 1000000\n')
    project = open_project({"files": {"base_dir": str(tmp_path), "paths": ["*.md"]}})
    (tmp_path / "long.md").write_text("What the tool reads again.\n" * 1_000)
    contexts = WorkerContexts(project, terms=WorkerTerms("anthropic", MODEL))
    ticket = Ticket.model_validate({"id": "a", "prompt": "Say it.", "tools": ["read_file"]})
    (step,) = preview(tickets_of((ticket,)), contexts)
    assert (step.usage.cache_read, step.usage.cache_write) == (0, 0)
    assert step.usage.input > 10_000


ASKS = Ticket(id="a", prompt="x")
LIMITED = Ticket(id="b", prompt="x", max_cost=1)
LIST = Ticket(id="c", prompt="x", for_each="results.a", depends_on=("a",), max_cost=1)
APPROVAL = Ticket.model_validate({"id": "d", "prompt": "x", "kind": "approval"})
KNOWN = WorkerTerms("anthropic", "claude-sonnet-5")
LOCAL = WorkerTerms("compatible", "mine", "http://127.0.0.1:8080/v1")


def checked(
    folder: Path, terms: WorkerTerms, *tickets: Ticket, max_cost: float | None = None
) -> str:
    """Return what is said of these tickets, ``""`` where they may be run."""
    project = open_project(track_project(folder, "") / "manual_slop.toml")
    contexts = WorkerContexts(project, terms=terms)
    try:
        check_prices(tickets_of(tickets), contexts.asks, max_cost=max_cost)
    except ConfigError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("terms", "tickets", "max_cost", "named"),
    [
        (LOCAL, (ASKS,), 1, "a"),
        (LOCAL, (ASKS, LIMITED), None, "b"),
        (LOCAL, (ASKS, LIST), None, "c"),
        (LOCAL, (ASKS,), None, ""),
        (LOCAL, (APPROVAL,), 1, ""),
        (KNOWN, (ASKS, LIMITED, LIST), 1, ""),
        (WorkerTerms(), (ASKS, LIMITED), 1, ""),
    ],
)
def test_a_limit_whose_price_is_not_known(
    tmp_path: Path,
    terms: WorkerTerms,
    tickets: tuple[Ticket, ...],
    max_cost: float | None,
    named: str,
) -> None:
    """Whoever sets a limit is told what it lacks before anything is asked; without a limit no price is needed."""
    said = checked(tmp_path, terms, *tickets, max_cost=max_cost)
    expected = (
        "max_cost cannot be kept: the price of compatible mine http://127.0.0.1:8080/v1, which the ticket "
        f'"{named}" asks, is not known: name its input and output prices under [models."mine"] in your own '
        "configuration, 0 for a server of your own, or leave max_cost out"
    )
    assert said == (expected if named else "")


def test_what_the_sentence_says_helps(tmp_path: Path) -> None:
    """With prices of the user's own, be they nothing, the same run may begin."""
    by_user('[models."mine"]\ninput = 0\noutput = 0\n')
    assert checked(tmp_path, LOCAL, ASKS, max_cost=1) == ""
