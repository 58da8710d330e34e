"""What tickets cost: every request counts, whatever became of its attempt; a limit that could not be kept is refused."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest

from aggregate import (
    Client,
    ConfigError,
    FinishReason,
    ProviderError,
    Reply,
    RunStatus,
    Usage,
    count,
    open_project,
)
from aggregate.agents.tracks import Ticket, WorkerContexts, WorkerTerms, preview
from aggregate.agents.tracks.assignment import Assignment
from aggregate.agents.tracks.attempt import Attempt, attempt_assignment
from aggregate.agents.tracks.metered_client import MeteredClient
from aggregate.agents.tracks.terms import check_prices
from aggregate.agents.tracks.tickets import TicketKind, Tickets
from aggregate.agents.tracks.worker import ModelWorker
from aggregate.project.configuration import global_config_path
from aggregate.sending.clients import cost
from aggregate.sending.clients.client import Retry, ScriptedTransport
from aggregate.sending.clients.protocol import ModelRequest
from tests.agents.tracks.test_tool_tickets import ASKED, FINAL, PLAN, Script
from tests.fakes.conducting import track_project

MODEL = "claude-sonnet-5"
USAGE = Usage(fresh=1_000, output=100)


@pytest.fixture(autouse=True)
def _no_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


@dataclass
class Counted:
    script: Script
    usage: Usage = field(default_factory=Usage)

    def __call__(self, request: ModelRequest) -> Reply:
        answer = self.script(request)
        reply = answer if isinstance(answer, Reply) else Reply(answer, USAGE)
        self.usage += reply.usage
        return reply

    @property
    def dollars(self) -> float:
        return float(cost(self.usage, MODEL, provider="anthropic") or Decimal(0))


def attempted(
    root: Path,
    answer: Callable[[ModelRequest], str | Reply],
    *,
    asked: Assignment = ASKED,
    model: str = MODEL,
) -> Attempt:
    (root / "notes.txt").write_text("forty-two", encoding="utf-8")
    client = Client("anthropic", ScriptedTransport(answer), model, retry=Retry(1))
    return attempt_assignment(ModelWorker(client, root=root), asked, 1)


def test_an_answer_has_its_price(tmp_path: Path) -> None:
    """The plan, the steps and the answer are counted, so that max_cost can be kept."""
    counted = Counted(Script({**FINAL, **PLAN}))
    made = attempted(tmp_path, counted)
    assert made.status is RunStatus.SUCCESS
    assert made.cost == pytest.approx(counted.dollars)
    assert made.tokens == counted.usage.input + counted.usage.output


@pytest.mark.parametrize("final", [Reply("", USAGE, FinishReason.REFUSED), Reply(" ", USAGE), None])
def test_a_failed_attempt_was_paid_for(tmp_path: Path, final: Reply | None) -> None:
    """A model that refuses or says nothing, and a provider that fails, cost what was asked before and then."""
    counted = Counted(Script({"What the steps found": final or "", **PLAN}))

    def answer(request: ModelRequest) -> Reply:
        if final is None and "What the steps found" in str(request.plan):
            raise ProviderError("it is down", status=400)
        return counted(request)

    made = attempted(tmp_path, answer)
    assert made.status is RunStatus.ERROR
    assert made.cost == pytest.approx(counted.dollars)
    assert (made.cost or 0) > 0
    assert made.tokens == counted.usage.input + counted.usage.output
    assert made.again is (final is not None and final.stop is not FinishReason.REFUSED)


def test_an_attempt_whose_time_is_over_was_paid_for(tmp_path: Path) -> None:
    """What had been answered until then is counted; the request that was under way is not known."""
    counted, over = Counted(Script({**FINAL, **PLAN})), Event()

    def answer(request: ModelRequest) -> Reply:
        if counted.usage.output > USAGE.output:
            over.wait(10)
        return counted(request)

    made = attempted(tmp_path, answer, asked=replace(ASKED, timeout=2))
    known = cost(USAGE + USAGE, MODEL, provider="anthropic")
    over.set()
    assert made.status is not RunStatus.SUCCESS  # the goal's own limit may be reached first
    assert made.cost == pytest.approx(float(known or 0))
    assert made.tokens == 2_200


@pytest.mark.parametrize("tools", [ASKED.tools, ()])
def test_a_server_that_reports_nothing_is_not_free(tmp_path: Path, tools: tuple[str, ...]) -> None:
    """Without tokens the price is that of our own counts: a run with max_cost must not go on as if it were nothing."""
    client = Client("anthropic", ScriptedTransport(iter(())), MODEL)
    assert MeteredClient(client).cost is None
    script = Script({**FINAL, **PLAN})
    asked = replace(ASKED, tools=tools)
    made = attempted(tmp_path, lambda request: Reply(str(script(request)), Usage()), asked=asked)
    ours = sum(map(count, (asked.text, asked.persona)))
    assert made.status is RunStatus.SUCCESS
    assert made.tokens >= ours
    least = cost(Usage(fresh=ours), MODEL, provider="anthropic")
    assert made.cost is not None
    assert made.cost >= float(least or 0) > 0


def write_price(**prices: float) -> None:
    path = global_config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(f"{name} = {price}" for name, price in prices.items())
    path.write_text(f'[models."{MODEL}"]\n{lines}\n', encoding="utf-8")


@pytest.mark.parametrize("dear", [False, True])
def test_what_is_read_from_a_cache_counts_at_the_users_price(tmp_path: Path, dear: bool) -> None:
    """A limit of tokens counts them as the user's table says, which goes before the shipped one."""
    write_price(input=3, output=15, cache_read=3 if dear else 0.3)
    reading = Usage(cache_read=2_000, output=10)
    script = Script({**FINAL, **PLAN})
    asked = replace(ASKED, max_tokens=8_500)
    made = attempted(tmp_path, lambda request: Reply(str(script(request)), reading), asked=asked)
    assert made.status is (RunStatus.ERROR if dear else RunStatus.SUCCESS)


def test_a_preview_of_lists_and_approvals(tmp_path: Path) -> None:
    """A list's files are named by items that are not there yet, and no model is paid for a person's decision."""
    tickets = (
        Ticket(id="list", prompt="x"),
        Ticket(id="gate", prompt="May it?", kind=TicketKind.APPROVAL, depends_on=("list",)),
        Ticket(id="look", prompt="x", for_each="results.list", focus_files=("{{item}}",)),
    )
    folder = track_project(tmp_path, '[[tickets]]\nid = "a"\nprompt = "x"\n')
    terms = WorkerTerms("anthropic", MODEL)
    contexts = WorkerContexts(open_project(folder / "manual_slop.toml"), terms=terms)
    steps = {step.ticket.id: step for step in preview(Tickets(tickets=tickets), contexts)}
    assert [steps[name].cost is None for name in ("list", "gate", "look")] == [False, True, False]


ASKS = Ticket(id="a", prompt="x")
LIMITED = Ticket(id="b", prompt="x", max_cost=1)
LIST = Ticket(id="c", prompt="x", for_each="results.a", depends_on=("a",), max_cost=1)
APPROVAL = Ticket(id="d", prompt="x", kind=TicketKind.APPROVAL)
KNOWN = WorkerTerms("anthropic", "claude-sonnet-5")
LOCAL = WorkerTerms("compatible", "mine", "http://127.0.0.1:8080/v1")


def checked(
    folder: Path, terms: WorkerTerms, *tickets: Ticket, max_cost: float | None = None
) -> str:
    """Return what is said of these tickets, ``""`` where they may be run."""
    project = open_project(track_project(folder, "") / "manual_slop.toml")
    contexts = WorkerContexts(project, terms=terms)
    try:
        check_prices(Tickets(tickets=tickets), contexts.asks, max_cost=max_cost)
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
    path = global_config_path()
    path.parent.mkdir(parents=True)
    path.write_text('[models."mine"]\ninput = 0\noutput = 0\n', encoding="utf-8")
    assert checked(tmp_path, LOCAL, ASKS, max_cost=1) == ""
