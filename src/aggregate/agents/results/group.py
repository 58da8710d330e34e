"""Groups: the outputs for one variable, with a merge strategy and a policy for failures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from aggregate.prompt.asking.results import GroupStatus, MergeStrategy

# A callable, or a Python expression or lambda as text
CustomFunction = Callable[[list[Any]], Any] | str


class FailurePolicy(StrEnum):
    """Whether a failed output is reported, skipped, or makes its whole group fail."""

    REPORT = "report"
    SKIP = "skip"
    FAIL = "fail"


class MergeOrder(StrEnum):
    """Whether outputs are merged in the order of their spawns or of their completion."""

    SPAWN = "spawn"
    COMPLETION = "completion"


@dataclass(frozen=True, slots=True)
class LabelledOutput:
    """One output to be merged, or its error instead."""

    output: Any = None  # any value; ignored if ``error`` is set
    label: str | None = None  # its key in a ``json`` merge
    run_id: str = ""  # its name in warnings without a label
    error: str | None = None  # why there is no output

    @property
    def name(self) -> str:
        return self.label or self.run_id


def failures(outputs: Sequence[LabelledOutput], on_error: FailurePolicy) -> tuple[list[str], bool]:
    """Return the errors of outputs, and whether their group fails.

    A group fails if all of its outputs failed, or with policy ``fail`` if one did.
    """
    errors = [item.error for item in outputs if item.error is not None]
    fails = bool(errors) and (on_error is FailurePolicy.FAIL or len(errors) == len(outputs))
    return errors, fails


@dataclass(frozen=True, slots=True)
class Group:
    """The state of one variable's outputs: pending, partial, then complete or failed."""

    variable_name: str
    strategy: MergeStrategy = MergeStrategy.CONCAT
    custom_function: CustomFunction | None = None
    order: MergeOrder = MergeOrder.SPAWN
    on_error: FailurePolicy = FailurePolicy.REPORT
    status: GroupStatus = GroupStatus.PENDING
    spawned: int = 0
    ended: int = 0  # failed runs included
    opened: int = 1  # how often: a spawn into a complete group opens it again
    completed_at: datetime | None = None  # ``None`` while it is open
    last_sequence: int = 0  # of the last run in its value; later ends are late
    closed: bool = False  # to further spawns

    def with_run(self) -> "Group":
        """Return the group with one more run; a complete group is opened again (O-43)."""
        group = replace(self, spawned=self.spawned + 1)
        if not group.status.final:
            return group
        return replace(
            group,
            status=GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING,
            opened=group.opened + 1,
            completed_at=None,
            last_sequence=0,
        )

    def with_end(self, at: datetime | None, sequence: int, *, has_failed: bool) -> "Group":
        """Return the group after a run's end (O-48, O-54)."""
        group = replace(self, ended=self.ended + 1)
        if group.status is GroupStatus.FAILED:
            return group
        fails = has_failed and group.on_error is FailurePolicy.FAIL
        if not fails and group.ended < group.spawned:
            return replace(group, status=GroupStatus.PARTIAL)
        status = GroupStatus.FAILED if fails else GroupStatus.COMPLETE
        return replace(group, status=status, completed_at=at, last_sequence=sequence)
