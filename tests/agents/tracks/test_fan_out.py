"""A fan-out in which every kind of fault happens."""

from simulation.fan_out import Fault, simulate


def test_every_fault() -> None:
    """Crashes, timeouts, refusals, slow, empty and late members: each ends as it should, and all others are kept (O-6, O-46, O-51)."""
    counts, wrong, _ = simulate(16)
    assert wrong == []
    for kind in ((Fault.LATE, "timed out"), (Fault.CRASH, "failed"), (Fault.EMPTY, "failed")):
        assert counts[kind] == 2
