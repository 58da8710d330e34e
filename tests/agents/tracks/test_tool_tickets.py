"""Tickets with tools: the loop, what it is told, its limits, and what tickets cost."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
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
    Usage,
    count,
    open_project,
)
from aggregate.agents.tools import make_tool
from aggregate.agents.tracks import (
    Assignment,
    Ticket,
    TicketStatus,
    WorkerContexts,
    WorkerReply,
    WorkerTerms,
    complete_assignment,
    preview,
    worker_tools,
)
from aggregate.agents.tracks.tool_loop import SHOWN
from aggregate.agents.tracks.worker_terms import check_prices
from aggregate.sending import cost
from tests.fakes.acting import Turns, call, calls
from tests.fakes.conducting import asking, assigned, attempted, tickets_of, track_project
from tests.fakes.prompts import part
from tests.fakes.transports import scripted, whole_text
from tests.fakes.user_files import by_user

CONTEXT = Prompt((part("files", "## Files\n\n" + "many words of files " * 300),))
ASKED = assigned(
    "a",
    prompt=CONTEXT,
    message="## Task: a\n\nSay which number notes.txt holds.",
    persona="Be brief.",
    tools=("read_file", "search_files"),
)
READ = call("read_file", path="notes.txt")
ANSWER = "It holds forty-two."
USAGE = Usage(fresh=1_000, output=100)
MODEL = "claude-sonnet-5"


@pytest.fixture(autouse=True)
def _no_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text("  forty-two\n\tor  so\n", encoding="utf-8")
    return tmp_path


def attempt(
    root: Path,
    model: Callable[[Any], Reply | str],
    asked: Assignment = ASKED,
    provider: str = "scripted",
) -> WorkerReply:
    """Let a model make an attempt at a ticket over a folder."""
    terms = WorkerTerms(tools=worker_tools(root))
    return attempted(asking(scripted(model, provider, model=MODEL), terms=terms), asked)


def test_a_loop_sees_everything(root: Path) -> None:
    """Each request has the context, the task and every result as it stands, blanks and line breaks included (K-1)."""
    model = Turns([calls(READ), calls(call("search_files", text="forty")), ANSWER])
    made = attempt(root, model)
    assert (made.status, made.text, made.warning) == (TicketStatus.DONE, ANSWER, "")
    texts = [whole_text(each) for each in model.asked]
    beginning = f"Be brief.\n\n{CONTEXT.markdown}\n\n{ASKED.message}"
    assert all(text.startswith(beginning) for text in texts)
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert model.told == [
        "path: notes.txt\nlines: 2\n  forty-two\n\tor  so\n",
        "matches:\nnotes.txt:1: forty-two\ncount: 1",
    ]
    assert [tool.name for tool in model.asked[0].tools] == [*ASKED.tools, "read_result"]


def test_marks_follow_the_loop(root: Path) -> None:
    """A breakpoint stands at the end and where the request before ended, four of them at the most."""
    large = replace(ASKED, prompt=Prompt((part("files", "word " * 9_000),)))
    model = Turns([calls(READ), calls(READ), calls(READ), ANSWER])
    attempt(root, model, large)
    for number, request in enumerate(model.asked):
        marked = [i for i, block in enumerate(request.plan.blocks) if block.has_breakpoint]
        last = len(request.plan.blocks) - 1
        assert len(marked) <= 4
        assert set(marked) >= ({last, last - 2} if number else {last})


def test_calls_of_one_turn(root: Path) -> None:
    """Several calls of one turn are made and answered in order."""
    twice = calls(READ, call("read_file", 2, path="lost.txt"), call("fly", 3))
    model = Turns([twice, ANSWER])
    assert attempt(root, model).status is TicketStatus.DONE
    first, lost, unknown = model.told[0].replace("\n\n\n", "\n\n").split("\n\n")
    assert "forty-two" in first
    assert lost.startswith('error: "lost.txt" is not a readable file of the project')
    assert unknown.startswith("error: malformed call: there is no tool 'fly'")


def test_wrong_arguments_are_told(root: Path) -> None:
    """A call that cannot be made says what it lacks, and the model may go on."""
    model = Turns([calls(call("read_file", file="notes.txt")), calls(READ), ANSWER])
    assert attempt(root, model).text == ANSWER
    assert (
        model.told[0]
        == "error: malformed call: missing 1 required argument(s) of read_file: 'path'"
    )


def test_a_long_result_is_shown_in_part(root: Path) -> None:
    """Its head and its tail stand there, and the rest is read on by its reference."""
    lines = [f"line {number}" for number in range(5_000)]
    (root / "long.txt").write_text("\n".join(lines), encoding="utf-8")
    on = call("read_result", reference="1.1", start=SHOWN - 4_000)
    model = Turns([calls(call("read_file", path="long.txt")), calls(on), ANSWER])
    assert attempt(root, model).text == ANSWER
    cut, rest = model.told
    assert "line 0\n" in cut
    assert cut.endswith("line 4999")
    assert 'are left out here: read_result {"reference": "1.1", "start": 12000}]' in cut
    assert len(rest) == SHOWN - 4_000
    head = cut.partition("\n[")[0]
    assert (head + rest) in "path: long.txt\nlines: 5000\n" + "\n".join(lines)


def test_turns_are_limited(root: Path) -> None:
    """The last turn asks for the answer; a model that calls on all the same has failed, and is not asked again."""
    obeys = Turns([calls(READ), calls(READ), ANSWER])
    assert attempt(root, obeys, replace(ASKED, max_turns=3)).text == ANSWER
    assert obeys.told[-1].endswith(
        "This was your last call: answer now from what you know, without calling a tool."
    )
    loops = Turns([calls(READ)] * 9)
    made = attempt(root, loops, replace(ASKED, max_turns=3))
    assert (made.status, made.again, len(loops.asked)) == (TicketStatus.FAILED, False, 3)
    assert (
        "it called tools again instead of answering in its last turn, 3 of 3: allow more with max_turns"
        in made.text
    )


def test_tokens_are_limited(root: Path) -> None:
    """A loop whose tokens are over asks for the answer while there is room for one, and then for nothing more."""
    model = Turns([Reply("", Usage(9_000), calls=(READ,))] * 9)
    made = attempt(root, model, replace(ASKED, max_tokens=20_000))
    assert made.status is TicketStatus.FAILED
    assert len(model.asked) == 2
    assert made.tokens == 18_000


@pytest.mark.parametrize("knows_tools", [False, True])
def test_calls_as_text(root: Path, knows_tools: bool) -> None:
    """Where a provider has no tools, or its server refuses them, calls are written and read as JSON."""
    said = 'I look.\n\n```json\n{"tool": "read_file", "arguments": {"path": "notes.txt"}}\n```'
    turns = Turns([said, ANSWER])

    def model(request: Any) -> Reply | str:
        if request.tools:
            raise ProviderError("tools are not supported", status=400)
        return turns(request)

    made = attempt(root, model, provider="compatible" if knows_tools else "unheard-of")
    assert (made.status, made.text) == (TicketStatus.DONE, ANSWER)
    text = whole_text(turns.asked[0])
    assert "write one JSON object in a fenced block" in text
    assert (
        '- read_file: Read a text file of the project, whole or some of its lines. Arguments: {"type"'
        in text
    )
    assert turns.told == ["path: notes.txt\nlines: 2\n  forty-two\n\tor  so\n"]


def test_an_answer_of_another_form_is_asked_for_again(root: Path) -> None:
    """What misses its schema is corrected in the same discussion, once: no call is made again."""
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    asked = replace(ASKED, answer=schema)
    model = Turns([calls(READ), "forty-two", '{"n": 42}'])
    made = attempt(root, model, asked)
    assert (made.status, made.text, len(model.asked)) == (TicketStatus.DONE, '{"n": 42}', 3)
    assert "Your last answer was rejected" in model.told[-1]
    never = attempt(root, Turns([calls(READ), "forty-two", "forty-two"]), asked)
    assert (never.status, never.again) == (TicketStatus.FAILED, False)
    assert "does not match its schema" in never.text


@pytest.mark.parametrize(
    ("said", "error", "again"),
    [
        (Reply(" \n", Usage()), "the model answered nothing (end)", True),
        (Reply("", Usage(), FinishReason.REFUSED), "the model refused to answer", False),
        (ProviderError("it is down", status=503, retryable=True), "it is down", True),
    ],
)
def test_what_is_no_answer_has_failed(
    root: Path, said: Reply | ProviderError, error: str, again: bool
) -> None:
    """A refusal, an empty answer and a provider that fails are told by their cause."""

    def model(request: Any) -> Reply:
        if not any(block.turn for block in request.plan.blocks):
            return calls(READ)
        if isinstance(said, ProviderError):
            raise said
        return said

    made = attempt(root, model)
    assert (made.status, made.text, made.again) == (TicketStatus.FAILED, error, again)
    assert made.tokens >= 110


def test_a_server_that_ignores_its_limit_is_told_of(root: Path) -> None:
    """An answer that is longer than was asked for, and one that was cut, are warned of."""
    long = Reply(ANSWER, Usage(10, output=50_000), FinishReason.LENGTH)
    made = attempt(root, Turns([long]))
    assert "the answer is incomplete (length)" in made.warning
    assert (
        "ignores the limit of an answer: it wrote 50,000 tokens, 16,000 were allowed"
        in made.warning
    )


def test_own_tools(root: Path) -> None:
    """Tools of the user's own are called as those that come with the package, and no other ones are offered."""

    def count_words(text: str) -> int:
        """Count the words of a text."""
        return len(text.split())

    registry = worker_tools(root)
    registry.add(make_tool(count_words))
    model = Turns([calls(call("count_words", text="a b c")), "Three."])
    worker = asking(scripted(model), terms=WorkerTerms(tools=registry))
    made = attempted(worker, replace(ASKED, tools=("count_words",)))
    assert (made.text, model.told) == ("Three.", ["3"])
    assert [tool.name for tool in model.asked[0].tools] == ["count_words", "read_result"]
    unknown = attempted(worker, replace(ASKED, tools=("fly",)))
    assert (unknown.again, "Tool not found: fly" in unknown.text) == (False, True)


def charged(
    root: Path, model: Callable[[Any], Reply | str], asked: Assignment = ASKED
) -> WorkerReply:
    return attempt(root, model, asked, provider="anthropic")


def test_an_answer_has_its_price(root: Path) -> None:
    """Every request is counted, so that max_cost can be kept."""
    made = charged(root, Turns([Reply("", USAGE, calls=(READ,)), Reply(ANSWER, USAGE)]))
    assert made.status is TicketStatus.DONE
    assert made.cost == pytest.approx(float(cost(USAGE + USAGE, MODEL, provider="anthropic") or 0))
    assert made.tokens == 2_200


@pytest.mark.parametrize("final", [Reply("", USAGE, FinishReason.REFUSED), Reply(" ", USAGE), None])
def test_a_failed_attempt_was_paid_for(root: Path, final: Reply | None) -> None:
    """A model that refuses or says nothing, and a provider that fails, cost what was asked before and then."""
    turns = Turns([Reply("", USAGE, calls=(READ,)), final or ""])

    def model(request: Any) -> Reply | str:
        if final is None and any(block.turn for block in request.plan.blocks):
            raise ProviderError("it is down", status=401)
        return turns(request)

    made = charged(root, model)
    times = 1 if final is None else 2
    assert made.status is TicketStatus.FAILED
    assert made.tokens == 1_100 * times
    price = float(cost(USAGE, MODEL, provider="anthropic") or Decimal(0))
    assert made.cost == pytest.approx(price * times)


def test_an_attempt_whose_time_is_over_was_paid_for(root: Path) -> None:
    """What had been answered until then is counted; the request that was under way is not known."""
    turns, over = Turns([Reply("", USAGE, calls=(READ,)), ANSWER]), Event()

    def model(request: Any) -> Reply | str:
        if any(block.turn for block in request.plan.blocks):
            over.wait(10)
        return turns(request)

    made = charged(root, model, replace(ASKED, timeout=1))
    over.set()
    assert made.status is TicketStatus.FAILED
    assert made.tokens == 1_100
    assert made.cost == pytest.approx(float(cost(USAGE, MODEL, provider="anthropic") or 0))


@pytest.mark.parametrize("tools", [ASKED.tools, ()])
def test_a_server_that_reports_nothing_is_not_free(root: Path, tools: tuple[str, ...]) -> None:
    """Without tokens the price is that of our own counts: a run with max_cost must not go on as if it were nothing."""
    made = charged(root, lambda _request: Reply(ANSWER, Usage()), replace(ASKED, tools=tools))
    ours = sum(map(count, (ASKED.text, ASKED.persona)))
    assert made.status is TicketStatus.DONE
    assert made.tokens >= ours
    least = cost(Usage(fresh=ours), MODEL, provider="anthropic")
    assert made.cost is not None
    assert made.cost >= float(least or 0) > 0


def test_what_is_read_from_a_cache_counts_whole(root: Path) -> None:
    """The limit is of the tokens that are reported, whatever they cost (K-6)."""
    reading = Usage(cache_read=9_000, output=10)
    reads = [call("search_files", text=text) for text in ("forty", "two", "so")]
    model = Turns([*(Reply("", reading, calls=(each,)) for each in reads), Reply(ANSWER, reading)])
    made = charged(root, model, replace(ASKED, max_tokens=30_000))
    assert (made.status, made.again) == (TicketStatus.FAILED, False)
    assert 18_000 < made.tokens <= 30_000


@pytest.mark.parametrize("tools", [ASKED.tools, ()])
def test_all_attempts_share_the_limit(root: Path, tools: tuple[str, ...]) -> None:
    """Attempts that fail leave less for the next one; no request is sent that could exceed the rest (K-6)."""
    allowed: list[int] = []

    def model(request: Any) -> Reply:
        allowed.append(request.max_output)
        return Reply(" ", Usage(fresh=count(whole_text(request)), output=request.max_output))

    worker = asking(scripted(model, model=MODEL), terms=WorkerTerms(tools=worker_tools(root)))
    asked = replace(ASKED, tools=tools, max_tokens=40_000, retries=9)
    outcome = complete_assignment(worker, asked, wait=lambda _seconds: None)
    assert outcome.status is TicketStatus.FAILED
    assert 35_000 < outcome.tokens <= 40_000
    assert allowed[0] == 16_000
    assert allowed == sorted(allowed, reverse=True)
    assert "40,000" in outcome.errors[-1]


def test_a_preview_of_lists_and_approvals(tmp_path: Path) -> None:
    """A list's files are named by items that are not there yet, and no model is asked for a person's decision."""
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
    assert [bool(steps[name].recipient.model) for name in ("list", "gate", "look")] == [
        True,
        False,
        True,
    ]


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
        "max_cost cannot be enforced: the price of compatible mine http://127.0.0.1:8080/v1, which the ticket "
        f'"{named}" asks, is not known: name its input and output prices under [models."mine"] in your own '
        "configuration, 0 for a server of your own, or leave max_cost out"
    )
    assert said == (expected if named else "")


def test_what_the_sentence_says_helps(tmp_path: Path) -> None:
    """With prices of the user's own, be they nothing, the same run may begin."""
    by_user('[models."mine"]\ninput = 0\noutput = 0\n')
    assert checked(tmp_path, LOCAL, ASKS, max_cost=1) == ""


def test_a_limit_of_tokens_is_a_maximum(root: Path) -> None:
    """No request is sent that could take more than is left, and its answer is limited to that (K-6)."""
    most = 20_000

    def greedy(request: Any) -> Reply:
        size = count(whole_text(request))
        number = sum(1 for block in request.plan.blocks if block.turn) // 2
        made = call("search_files", number, text=f"forty{number}")
        return Reply("", Usage(fresh=size, output=request.max_output), calls=(made,))

    made = attempt(root, greedy, replace(ASKED, max_tokens=most))
    assert made.status is TicketStatus.FAILED
    assert most - 6_000 < made.tokens <= most


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([READ] * 3, "it made the same call of read_file 3 times in a row, with the same result"),
        ([call("fly", height=height) for height in range(5)], "5 calls in a row were malformed, the last one of fly"),
        ([call("read_file", file=f"{n}.txt") for n in range(5)], "5 calls in a row were malformed"),
    ],
)  # fmt: skip
def test_a_loop_that_is_stuck_ends(root: Path, made: list[Any], reason: str) -> None:
    """The same call with the same result, or calls that no tool can take, end the ticket as failed (K-6)."""
    attempted = attempt(root, Turns([*map(calls, made), ANSWER]))
    assert (attempted.status, attempted.again) == (TicketStatus.FAILED, False)
    assert reason in attempted.text


def test_a_repeated_call_with_a_long_result_is_known(root: Path) -> None:
    """Results that are shown in part count as equal where they are (K-6)."""
    (root / "notes.txt").write_text("a line of notes\n" * (SHOWN // 8), encoding="utf-8")
    made = attempt(root, Turns([*[calls(READ)] * 3, ANSWER]))
    assert made.status is TicketStatus.FAILED
    assert "it made the same call of read_file 3 times in a row" in made.text


def test_an_offer_is_no_announcement(root: Path) -> None:
    """An answer that ends with an offer is taken as it is (K-7)."""
    offer = "It holds forty-two. Let me know if you want me to check more."
    model = Turns([offer])
    assert attempt(root, model).text == offer


def test_calls_that_differ_go_on(root: Path) -> None:
    """Two equal calls, or four malformed ones before a good one, are no reason to end (K-6)."""
    odd = [call("fly", height=height) for height in range(4)]
    made = attempt(root, Turns([*map(calls, [READ, READ, *odd, READ]), ANSWER]))
    assert (made.status, made.text) == (TicketStatus.DONE, ANSWER)


@pytest.mark.parametrize(
    "announcement",
    [
        "I will now call read_file.",
        "Let me look at notes.txt first.",
        "I'll start: I'll read the file",
    ],
)
def test_an_announced_call_is_asked_for(root: Path, announcement: str) -> None:
    """An answer that only announces a call is no answer; it is asked for once (K-7)."""
    model = Turns([announcement, calls(READ), ANSWER])
    made = attempt(root, model)
    assert (made.text, made.warning) == (ANSWER, "")
    assert model.told[0].startswith("You announced a call and made none.")
    again = attempt(root, Turns([announcement, announcement]))
    assert (again.status, again.warning) == (TicketStatus.DONE, "the answer only announces a call")
