"""Fold labelled outputs into one result: the whole of a merge, with no session around it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aggregate.errors import Refusal, SpawnError
from aggregate.models.group import CustomFunction, GroupStatus, MergeStrategy
from aggregate.models.plain import isolated
from aggregate.models.result import AggregatedResult, LabelledOutput
from aggregate.sandbox import Limits
from aggregate.subagents import strategies
from aggregate.subagents.custom import apply_custom
from aggregate.subagents.strategies import Merged

BUILT_IN: Final[Mapping[MergeStrategy, Callable[[Sequence[LabelledOutput]], Merged]]] = {
    MergeStrategy.CONCAT: strategies.concat,
    MergeStrategy.JSON: strategies.by_key,
    MergeStrategy.MERGE: strategies.deep_merge,
    MergeStrategy.FIRST: strategies.first,
    MergeStrategy.LAST: strategies.last,
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a group ended, for the envelope: its name, status and time, and whether failures are listed."""

    variable_name: str = "$results"
    status: GroupStatus = GroupStatus.COMPLETE
    completed_at: datetime | None = None
    list_errors: bool = True


def merge_outputs(
    outputs: Sequence[LabelledOutput],
    strategy: MergeStrategy | str = MergeStrategy.CONCAT,
    *,
    custom_function: CustomFunction | None = None,
    ending: Ending | None = None,
    limits: Limits | None = None,
) -> AggregatedResult:
    """Merge ``outputs`` in their order; nothing given is changed, and the value shares nothing with it.

    Args:
        outputs: Successful and failed ones (``error`` set); failed ones are counted and listed, not merged.
        strategy: One of the six.
        custom_function: For ``custom``: see ``apply_custom``.
        ending: What to write into the envelope; by default a complete group named ``$results``.
        limits: What a custom function given as text may use.

    Raises:
        SpawnError: The strategy is unknown, or ``custom`` came without a function.
    """
    chosen = known_strategy(strategy)
    end = ending or Ending()
    good = [item for item in outputs if item.error is None]
    built_in = BUILT_IN.get(chosen)
    merged = built_in(good) if built_in else apply_custom(custom_function, good, limits=limits, now=end.completed_at)
    empty = (f"{item.name}: the output is empty" for item in good if item.output is None or item.output == "")
    failures = (f"{item.name} failed: {item.error}" for item in outputs if item.error is not None and end.list_errors)
    return AggregatedResult(
        variable_name=end.variable_name,
        strategy=chosen,
        value=isolated(merged.value),
        errors=(*failures, *merged.errors),
        warnings=(*empty, *merged.warnings),
        completed_at=end.completed_at,
        count=len(outputs),
        status=end.status,
        labels=merged.labels,
        failed=len(outputs) - len(good),
    )


def known_strategy(value: object) -> MergeStrategy:
    """Return the strategy that ``value`` names, surrounding spaces ignored.

    Raises:
        SpawnError: ``INVALID_MERGE_STRATEGY`` for anything else.
    """
    try:
        return MergeStrategy(str(value).strip())
    except ValueError:
        names = ", ".join(MergeStrategy)
        raise SpawnError(
            f"mergeStrategy must be one of {names}, not {value!r}", code=Refusal.INVALID_MERGE_STRATEGY
        ) from None
