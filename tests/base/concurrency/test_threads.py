"""Work in threads that no program waits for."""

import threading
import time

import pytest

from aggregate.base.concurrency import doubling_delay, ordered_map, run_in_thread


def test_results_stand_in_the_order_of_the_items() -> None:
    """Whatever is done first; no more than so many at a time."""
    running: list[int] = []
    peaks: list[int] = []

    def work(number: int) -> int:
        running.append(number)
        peaks.append(len(running))
        time.sleep(0.01 * (number % 3))
        running.remove(number)
        return number * number

    assert ordered_map("square", work, range(20), workers=3) == [
        number * number for number in range(20)
    ]
    assert max(peaks) <= 3
    assert ordered_map("square", work, [], workers=3) == []


def test_a_failure_begins_no_further_work() -> None:
    """It is raised as it is, also where earlier items are slower."""
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.05)
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ordered_map("fail", work, range(100), workers=2)
    time.sleep(0.1)
    assert len(begun) <= 6


def test_work_has_a_thread_of_its_own_that_is_a_daemon() -> None:
    """Its result and its error are the future's."""
    thread = run_in_thread("one", threading.current_thread).result(timeout=5)
    assert (thread.name, thread.daemon) == ("one", True)
    with pytest.raises(ZeroDivisionError):
        run_in_thread("two", lambda: 1 / 0).result(timeout=5)


def test_delays_double_up_to_a_limit() -> None:
    """However often something has failed."""
    assert [doubling_delay(number, 1, 8) for number in range(1, 6)] == [1, 2, 4, 8, 8]
    assert doubling_delay(1, 30, 8) == 8
    assert doubling_delay(100_000, 0.5, 60) == 60
