"""The order of a run, without time."""

from typing import Any

from hypothesis import given, strategies as st

from aggregate.agents.tracks import Ticket
from aggregate.agents.tracks.schedule import Schedule
from aggregate.base.values import FailurePolicy


def shared_prefix(ticket: Ticket) -> tuple[object, ...]:
    return ticket.persona, ticket.focus_files


def scheduled(text: str, **options: Any) -> Schedule:
    """Return the order of the tickets of ``text``."""
    return Schedule(tickets(text), prefix=shared_prefix, **options)


def tickets(text: str) -> list[Ticket]:
    """Return tickets from ``a b<-a c<-a,b``; an id in capitals shares no prefix with others."""
    made = []
    for word in text.split():
        name, _, needs = word.partition("<-")
        focus = (name,) if name.isupper() else ()
        waits_for = tuple(needs.split(",")) if needs else ()
        made.append(Ticket(id=name, prompt="x", depends_on=waits_for, focus_files=focus))
    return made


def waves(schedule: Schedule, most: int = 99, failing: str = "") -> list[str]:
    order = []
    while started := schedule.start(most):
        order.append("".join(one.id for one in started))
        for one in started:
            schedule.end(one.id, failed=one.id in failing)
    return order


def test_one_is_sent_ahead_of_those_that_share_its_prefix() -> None:
    """Of tickets with one prefix the first goes alone, and the others when it has ended, even in failure; other prefixes do not wait."""
    assert waves(scheduled("a b c X Y")) == ["aXY", "bc"]
    assert waves(scheduled("a b c X Y"), failing="a") == ["aXY", "bc"]
    assert waves(scheduled("a b c X Y", warm_up=False)) == ["abcXY"]


def test_one_that_nobody_was_asked_for_is_no_lead() -> None:
    """Where the first one fails before anybody is asked, another goes ahead alone in its place."""
    schedule = scheduled("a b c")
    assert [ticket.id for ticket in schedule.start(9)] == ["a"]
    schedule.end("a", failed=True, asked=False)
    assert waves(schedule) == ["b", "c"]


def test_the_first_words_set_the_others_free() -> None:
    """Those that share a prefix start when the first answer begins to come, not only when it has ended."""
    schedule = scheduled("a b c<-a X")
    assert [one.id for one in schedule.start(9)] == ["a", "X"]
    assert list(schedule.warming_up) == ["a"]
    schedule.answer_begun("a")
    assert list(schedule.warming_up) == []
    assert [one.id for one in schedule.start(9)] == ["b"]
    schedule.end("a", failed=False)
    assert [one.id for one in schedule.start(9)] == ["c"]


def test_failed_dependencies() -> None:
    """After a failure dependents run all the same, or with ``fail`` none of them, each with its reason."""
    chain = "A B<-A C<-B D E<-D,C"
    assert waves(scheduled(chain), failing="A") == ["AD", "B", "C", "E"]
    schedule = scheduled(chain, on_error=FailurePolicy.FAIL)
    assert waves(schedule, failing="A") == ["AD"]
    assert schedule.finished
    assert schedule.skipped == {
        "B": 'not run: it depends on "A", which failed',
        "C": 'not run: it depends on "B", which was not run',
        "E": 'not run: it depends on "C", which was not run',
    }


@given(st.data(), st.integers(1, 4), st.booleans(), st.sampled_from(list(FailurePolicy)))
def test_invariants(data: st.DataObject, most: int, warm_up: bool, on_error: FailurePolicy) -> None:
    """Whatever ends in whatever order: each ticket starts once after what it waits for, or is left out; nothing hangs."""
    count = data.draw(st.integers(1, 8))
    made = [
        Ticket(
            id=f"t{i}",
            prompt="x",
            depends_on=tuple(f"t{j}" for j in range(i) if data.draw(st.booleans())),
            persona=data.draw(st.sampled_from(["p", "q"])),
        )
        for i in range(count)
    ]
    schedule = Schedule(made, prefix=shared_prefix, on_error=on_error, warm_up=warm_up)
    ended: dict[str, bool] = {}
    started: list[str] = []
    warm = set()
    while not schedule.finished:
        new = schedule.start(most - len(schedule.under_way))
        started += [one.id for one in new]
        assert len(schedule.under_way) <= most
        assert all(needed in ended for one in new for needed in schedule.waits_for[one.id])
        under_way = [schedule.tickets[name] for name in schedule.under_way]
        cold = [shared_prefix(one) for one in under_way if shared_prefix(one) not in warm]
        assert not warm_up or len(cold) == len(set(cold))
        name = data.draw(st.sampled_from(sorted(schedule.under_way)))
        ended[name] = data.draw(st.booleans())
        warm.add(shared_prefix(schedule.tickets[name]))
        schedule.end(name, failed=ended[name])
    assert sorted(started) == sorted({one.id for one in made} - schedule.skipped.keys())
    assert len(set(started)) == len(started)
