"""Tracks that decide their own way: conditions, lists, approvals, schemas and limits; the queue is in memory."""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aggregate import ConfigError, RunOptions, SandboxError, WorkerError
from aggregate.agents.tracks import TicketOutcome, TicketStatus, open_track
from aggregate.agents.tracks.assignment import Ending
from aggregate.agents.tracks.tickets import evaluate, names_in
from tests.fakes.conducting import (
    TRACK,
    Conducted,
    MemoryQueue,
    MemoryRecord,
    Says,
    assigned,
    completed,
    conducted,
    track_project,
)

CONDITION = """\
tickets = [
  { id = "check", prompt = "Is it good?" },
  { id = "fix", prompt = "Mend it.", depends_on = ["check"], when = "results.check != 'yes'" },
  { id = "tell", prompt = "Tell.", depends_on = ["fix", "check"] },
]
"""
LIST = """\
tickets = [
  { id = "list", prompt = "Which?", answer = { type = "array", items = { type = "object", required = ["name"] } } },
  { id = "look", title = "Look at {{item.name}}", prompt = "Look at {{item.name}}, number {{index}}.", depends_on = ["list"], for_each = "results.list", max_children = 3, retries = 0 },
  { id = "sum", prompt = "Sum up.", depends_on = ["look"] },
]
"""
APPROVAL = """\
tickets = [
  { id = "ship", kind = "approval", prompt = "May it go?" },
  { id = "tell", prompt = "Tell.", depends_on = ["ship"] },
  { id = "shout", prompt = "Shout.", depends_on = ["tell"] },
]
"""
ITEMS = json.dumps([{"name": "a"}, {"name": "b"}, {"name": "c"}])


def answers(texts: dict[str, str]) -> Says:
    """Return a worker with these answers; ``!`` fails."""

    def answer(assignment: Any) -> str:
        text = texts.get(assignment.ticket, f"answer of {assignment.ticket}")
        if text == "!":
            raise OSError("no")
        return text

    return Says(answer)


def states(run: Conducted) -> dict[str, str]:
    return {line.ticket.id: line.state for line in run.result.lines}


@pytest.mark.parametrize(("answer", "fixed"), [("yes", "left out"), ("no", "done")])
def test_a_condition(tmp_path: Path, answer: str, fixed: str) -> None:
    """A ticket whose condition is not met is left out, which is no failure; what depends on it runs."""
    run = conducted(track_project(tmp_path, CONDITION), answers({"check": answer}))
    assert states(run) == {"check": "done", "fix": fixed, "tell": "done"}
    assert run.result.succeeded
    assert ("### fix" in run.prompt("tell")) is (fixed == "done")


def test_a_condition_on_a_failed_ticket(tmp_path: Path) -> None:
    """The result of a ticket that failed is None; a condition that throws is the ticket's failure."""
    folder = track_project(tmp_path, CONDITION.replace("!= 'yes'", "is None"))
    run = conducted(folder, answers({"check": "!"}))
    assert states(run)["fix"] == "done"
    folder = track_project(tmp_path / "throws", CONDITION.replace("!= 'yes'", ".length.x.y"))
    run = conducted(folder, answers({"check": "yes"}))
    assert states(run)["fix"] == "failed"
    assert "fix: its condition cannot be evaluated: AttributeError: 'str'" in run.report


def test_a_ticket_that_was_left_out_stays_so(tmp_path: Path) -> None:
    """After a restart the recorded decision counts, and is not made anew."""
    folder = track_project(tmp_path, CONDITION)
    endings = MemoryRecord({"demo/1/fix": Ending(TicketStatus.LEFT_OUT, "as it was")})
    run = conducted(folder, answers({"check": "no"}), endings=endings)
    assert states(run) == {"check": "done", "fix": "left out", "tell": "done"}


def test_a_list(tmp_path: Path) -> None:
    """One child for each item, with its own prompt and files; their answers are the parent's list, in order (O-40)."""
    run = conducted(track_project(tmp_path, LIST), answers({"list": f"```json\n{ITEMS}\n```"}))
    assert "## Task: Look at b\n\nLook at b, number 1." in run.prompt("look[1]")
    assert states(run) == dict.fromkeys(
        ["list", "look", "look[0]", "look[1]", "look[2]", "sum"], "done"
    )
    names = sorted(path.name for path in run.result.report.parent.glob("002_*"))
    assert names[:3] == ["002_look.reply.md", "002_look[0].prompt.md", "002_look[0].reply.md"]
    texts = (
        "#### look[0]: Look at a",
        "answer of look[0]",
        "#### look[1]: Look at b",
        "answer of look[1]",
    )
    places = [run.prompt("sum").index(text) for text in texts]
    assert places == sorted(places)
    assert "[prompt](002_look%5B1%5D.prompt.md)" in run.report


@pytest.mark.parametrize(
    ("items", "failure"),
    [
        ('[{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]', "gave 4 items, but max_children is 3"),
        ("[]", ""),
        ("words", "for_each is not a list"),
    ],
)  # fmt: skip
def test_lists_of_other_lengths(tmp_path: Path, items: str, failure: str) -> None:
    """A list that is too long is a failure, none of it is dropped; an empty one is a ticket that is done."""
    run = conducted(track_project(tmp_path, LIST), answers({"list": items}))
    assert states(run)["look"] == ("failed" if failure else "done")
    assert failure in run.report
    assert not [each for each in run.worker.order if each.startswith("look")]
    assert run.worker.order[-1] == "sum"


@pytest.mark.parametrize(
    ("on_error", "state", "value"),
    [
        ("report", "done", "look[1]: OSError: no"),
        ("skip", "done", "#### look[2]: Look at c\n\n```text\nanswer of look[2]"),
        ("fail", "failed", ""),
    ],
)
def test_a_child_that_failed(tmp_path: Path, on_error: str, state: str, value: str) -> None:
    """It is null in the list, left out of it, or the list's failure, as for dependencies (O-48)."""
    folder = track_project(tmp_path, f'on_error = "{on_error}"\n{LIST}')
    run = conducted(folder, answers({"list": ITEMS, "look[1]": "!"}))
    assert (states(run)["look"], states(run)["look[1]"]) == (state, "failed")
    assert not run.result.succeeded
    if value:
        assert value in run.prompt("sum")
    else:
        assert states(run)["sum"] == "not run"


def test_a_list_stays_what_it_was(tmp_path: Path) -> None:
    """After a restart the children are those that were recorded, each asked once, whatever is spread now."""
    folder = track_project(tmp_path, LIST)
    queue, endings = MemoryQueue(answers({"list": ITEMS})), MemoryRecord()
    looks = iter([False] * 4 + [True] * 9)
    conducted(folder, queue=queue, endings=endings, cancelled=lambda: next(looks))
    assert json.loads(endings.there["demo/1/look"].text) == json.loads(ITEMS)
    again = conducted(folder, queue=queue, endings=endings)
    worker = queue.worker
    assert isinstance(worker, Says)
    assert sorted(worker.order) == ["list", "look[0]", "look[1]", "look[2]", "sum"]
    assert again.result.succeeded


class Decides(MemoryRecord):
    decision = Ending(TicketStatus.DONE, "go on")

    def record(self, key: str, ending: Ending) -> Ending:
        if ending.status is TicketStatus.WAITING:
            self.there.setdefault(key, self.decision)
        return super().record(key, ending)


def test_an_approval(tmp_path: Path) -> None:
    """What waits goes on with the note as its answer; nobody is asked for it."""
    run = conducted(track_project(tmp_path, APPROVAL), endings=Decides())
    assert run.events[:2] == ["waits ship", "done ship"]
    assert run.worker.order == ["tell", "shout"]
    assert "```text\ngo on\n```" in run.prompt("tell")


def test_a_rejection(tmp_path: Path) -> None:
    """Everything that depends on it is not run, whatever a failure does otherwise; the reason is said."""
    endings = Decides()
    endings.decision = Ending(TicketStatus.REJECTED, "too early")
    run = conducted(track_project(tmp_path, APPROVAL), endings=endings)
    assert states(run) == {"ship": "rejected", "tell": "not run", "shout": "not run"}
    assert "ship: rejected: too early" in run.report
    assert 'shout: not run: it depends on "tell", which was not run' in run.report


def test_an_approval_waits(tmp_path: Path) -> None:
    """Stopped while it waits, a run goes on waiting, and then takes a decision that came meanwhile."""
    folder, endings = track_project(tmp_path, APPROVAL), MemoryRecord()
    looks = iter([False] * 5 + [True] * 9)
    first = conducted(folder, endings=endings, cancelled=lambda: next(looks))
    assert (first.worker.order, first.events) == ([], ["waits ship"])
    endings.there["demo/1/ship"] = Ending(TicketStatus.DONE)
    second = conducted(folder, endings=endings)
    assert second.worker.order == ["tell", "shout"]


SCHEMA = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@pytest.mark.parametrize(
    ("texts", "text", "failure"),
    [
        (['{"size": 3}'], '{\n "size": 3\n}', None),
        (["three", 'Now:\n```json\n{"size": 3}\n```'], '{\n "size": 3\n}', None),
        (['{"size": "3"}', "{}"], "", 'the answer does not match its schema: "size" is a required property'),
    ],
)  # fmt: skip
def test_an_answer_that_its_schema_refuses(
    texts: list[str], text: str, failure: str | None
) -> None:
    """It is asked for once more with the reason behind the task, whatever retries say, and then has failed."""
    replies = iter(texts)
    worker = Says(lambda _: next(replies))
    assignment = assigned(message="How large?", answer=SCHEMA)
    outcome = completed(worker, assignment)
    assert (outcome.text, outcome.failure, len(worker.given)) == (text, failure, len(texts))
    if len(texts) > 1:
        assert worker.given[1].message.startswith("How large?\n\nYour last answer was rejected: ")


def test_a_recorded_answer_that_is_no_json(tmp_path: Path) -> None:
    """What somebody wrote into the database is no value that a list could be made of: the ticket has failed."""
    worker = Says()
    queue = MemoryQueue(worker)
    queue.ended["demo/1/list"] = TicketOutcome.without_worker(
        "list", TicketStatus.DONE, "[" * 100_000
    )
    run = conducted(track_project(tmp_path, LIST), worker, queue=queue)
    assert states(run) == {"list": "failed", "look": "failed", "sum": "done"}
    assert "list: its answer in the database is not the JSON" in run.report


class Costs(Says):
    def work(self, assignment: Any) -> Any:
        return replace(super().work(assignment), cost=0.1)


def many(number: int, more: str = "") -> str:
    return "\n".join(f'[[tickets]]\nid = "t{i}"\nprompt = "x"\n{more}' for i in range(number))


def test_a_run_that_may_not_cost_more(tmp_path: Path) -> None:
    """No ticket is begun that its limit may not pay for; the report says why the others were not run."""
    run = conducted(track_project(tmp_path, many(8)), Costs(), max_cost=0.35)
    assert list(states(run).values()) == ["done"] * 3 + ["not run"] * 5
    assert "t3: not run: of max_cost, $0.35, $0.3000 is spent" in run.report
    assert run.result.stopped.startswith("of max_cost, $0.35, $0.3000 is spent")
    enough = conducted(track_project(tmp_path / "enough", many(2)), Costs(), max_cost=0.2)
    assert (enough.result.succeeded, enough.result.stopped) == (True, "")
    assert "3 of 8 tickets done, 15 tokens, $0.3000." in run.report


def test_a_limit_that_is_reached_at_a_restart(tmp_path: Path) -> None:
    """What a list was spread over is in the report again, counts against the limit, and is not asked once more."""
    folder = track_project(tmp_path, LIST)
    texts = {"list": ITEMS}
    worker = Costs(lambda assignment: texts.get(assignment.ticket, "an answer"))
    queue, endings = MemoryQueue(worker), MemoryRecord()
    first = conducted(folder, worker, queue=queue, endings=endings, max_cost=0.4)
    again = conducted(folder, worker, queue=queue, endings=endings, max_cost=0.1)
    assert "5 of 6 tickets done, 20 tokens, $0.4000." in first.report
    assert states(again) == states(first)
    assert "5 of 6 tickets done, 20 tokens, $0.4000." in again.report
    assert len(worker.given) == 4


class Slow(MemoryQueue):
    """A queue whose worker is still at work when it is looked at for the first time, and of which nothing is taken back."""

    looks: int = 0

    def end_newest(self, keys: Collection[str]) -> None:
        """Work only from the second look on; one at no tickets is none."""
        self.looks += bool(keys)
        if self.looks > 1:
            super().end_newest(keys)

    def cancel(self, keys: Collection[str]) -> None:
        """Do nothing."""


def test_what_is_under_way_at_a_restart_is_waited_for(tmp_path: Path) -> None:
    """A limit that is reached breaks nothing off that was enqueued before."""
    folder, worker = track_project(tmp_path, many(3)), Costs()
    before = Slow(worker)
    looks = iter([False, False, True])
    options = RunOptions(poll=0.001)
    conducted(folder, worker, queue=before, options=options, cancelled=lambda: next(looks))
    assert [*before.waiting] == ["demo/1/t0", "demo/1/t1"]
    MemoryQueue.end_newest(before, ["demo/1/t0"])
    queue = Slow(worker, waiting=before.waiting, ended=before.ended)
    run = conducted(folder, worker, queue=queue, max_cost=0.1)
    assert states(run) == {"t0": "done", "t1": "done", "t2": "not run"}


def test_a_limit_without_prices(tmp_path: Path) -> None:
    """A run whose costs are not known begins nothing further, and says so."""
    run = conducted(track_project(tmp_path, many(3)), max_cost=1)
    assert list(states(run).values()) == ["done", "not run", "not run"]
    assert 'the price of "t0" is unknown, so max_cost cannot be enforced' in run.report


def test_a_ticket_of_which_no_price_is_known() -> None:
    """It is not attempted again within a limit that could not be kept; an attempt that nobody answered changes nothing."""
    worker = Says(lambda _: "")
    assignment = assigned(retries=5, max_cost=0.1)
    outcome = completed(worker, assignment)
    assert len(worker.given) == 1
    unknown = "its cost is unknown, so max_cost cannot be enforced"
    assert outcome.failure == f"the answer is empty; not retried: {unknown}"
    away = Says(fails)
    completed(away, assignment)
    assert len(away.given) == 6


def fails(_: Any) -> str:
    raise WorkerError("it is down")


def test_a_ticket_that_may_not_cost_more() -> None:
    """It is not attempted again once its limit is spent; what failed attempts cost counts."""
    worker = Costs(lambda _: "")
    assignment = assigned(retries=5, max_cost=0.1)
    outcome = completed(worker, assignment)
    assert (len(worker.given), outcome.cost, outcome.tokens) == (1, 0.1, 5)
    assert outcome.failure == "the answer is empty; not retried: its max_cost, $0.1, is spent"


@pytest.mark.parametrize(
    ("tickets", "message"),
    [
        (CONDITION.replace("results.check !=", "results.gone !="), 'names "gone", which the ticket does not depend on'),
        (CONDITION.replace("!= 'yes'", "!="), 'when of "fix" cannot be evaluated: SyntaxError'),
        (LIST.replace("results.list", "while True: pass"), 'for_each of "look" cannot be evaluated: SyntaxError'),
        (LIST.replace('"array"', '"arrow"'), '"list": this is not a JSON Schema'),
        (LIST.replace("max_children = 3", "max_children = 5000"), "less than or equal to 1000"),
        (APPROVAL.replace('prompt = "May', 'tools = ["x"], prompt = "May'), "is an approval, which needs no worker"),
        (many(1, 'answer = "gone.json"'), "gone.json cannot be read"),
        (many(1, 'answer = "../../tracks.md"'), "is outside of the track"),
        (many(1, 'answer = { "$ref" = "file:///etc/passwd" }'), "this is not a JSON Schema"),
    ],
)  # fmt: skip
def test_what_is_refused_before_a_run(tmp_path: Path, tickets: str, message: str) -> None:
    """What can never be evaluated or checked is one sentence with file and line, and nothing is begun."""
    folder = track_project(tmp_path, tickets)
    with pytest.raises(ConfigError) as caught:
        open_track(folder, TRACK).tickets()
    assert message in str(caught.value)
    assert caught.value.line is not None


def test_expressions() -> None:
    """Results are named as attributes or by keys; truth is Python's; what is wrong is one error."""
    results: dict[str, Any] = {"list": [{"n": 1}], "a-b": "yes", "$all": None}
    assert names_in("results.list and results['a-b'] == results['$all']") == ("list", "a-b", "$all")
    assert evaluate("[one['n'] + 1 for one in results.list]", results) == [2]
    assert evaluate("results['a-b'] != 'yes' or results['$all']", results) is None
    for wrong in ("results.gone", "1 +", "open('x')", "[x for x in iter(int, 1)]"):
        with pytest.raises(SandboxError):
            evaluate(wrong, results)
