"""Groups of labelled outputs, and their merge into one value (O-3).

A merge follows a strategy or a custom function. Texts may be JSON: bare, or inside one Markdown fence with or without
words around it.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from aggregate.agents.sandbox import SOURCE_CHARACTERS, SandboxLimits
from aggregate.base.errors import Refusal, SandboxError, SpawnError
from aggregate.base.json_forms import (
    JsonCopy,
    failure_text,
    free_key,
    json_text,
    jsonable,
    message_text,
    type_name,
)
from aggregate.base.messages import shorten
from aggregate.base.values import Value, isolated_copy, unawaited
from aggregate.prompt.asking.results import AggregatedResult, GroupStatus, MergeStrategy

# A callable, or a Python expression or lambda as text
CustomFunction = Callable[[list[Any]], Any] | str
VARIABLE: Final = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")  # rule O-20
SHOWN_KEYS: Final = 5  # keys or outputs in a warning
SHOWN_CHARACTERS: Final = 100  # of a key or a wrong parameter in a message
AROUND_CHARACTERS: Final = 500  # words around JSON; with more the text is a report of its own
FAILED: Final = "Custom merge function failed"  # the documented failure value (rule O-9)


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
    completed_at: datetime | None = None  # ``None`` while it is open
    last_sequence: int = 0  # of the last run in its value; later ends are late
    closed: bool = False  # to further spawns

    def with_run(self) -> "Group":
        """Return the group with one more run; a complete group is opened again (O-43)."""
        group = replace(self, spawned=self.spawned + 1)
        if not group.status.final:
            return group
        status = GroupStatus.PARTIAL if group.ended else GroupStatus.PENDING
        return replace(group, status=status, completed_at=None, last_sequence=0)

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


def merge_outputs(
    outputs: Sequence[LabelledOutput],
    strategy: MergeStrategy | str = MergeStrategy.CONCAT,
    *,
    custom_function: CustomFunction | None = None,
    limits: SandboxLimits | None = None,
) -> AggregatedResult:
    """Merge ``outputs`` in their order into a new value.

    Args:
        outputs: Failed ones (with an ``error``, or an awaitable as output) are counted and listed, not merged.
        strategy: One of the six merge strategies.
        custom_function: For strategy ``custom``: a callable, or a Python lambda or expression as text.
        limits: Sandbox limits of a custom function as text.

    Raises:
        SpawnError: The strategy is unknown, or strategy ``custom`` lacks its function.
    """
    chosen = known_member(strategy, MergeStrategy, "mergeStrategy", Refusal.INVALID_MERGE_STRATEGY)
    group = Group("$results", chosen, custom_function, status=GroupStatus.COMPLETE)
    return merge_group(group, outputs, limits=limits)


def merge_group(
    group: Group, outputs: Sequence[LabelledOutput], *, limits: SandboxLimits | None = None
) -> AggregatedResult:
    """Merge a group's outputs by its strategy."""
    good: list[LabelledOutput] = []
    errors: list[str] = []
    warnings: list[str] = []
    for item in outputs:
        error = item.error if item.error is not None else unawaited(item.output) or None
        if error is not None:
            errors.append(f"{item.name} failed: {error}")
            continue
        good.append(item)
        if item.output is None or (type(item.output) is str and not item.output):
            warnings.append(f"{item.name}: the output is empty")
    failed = len(errors)
    if group.on_error is FailurePolicy.SKIP:
        errors = []
    if group.strategy is MergeStrategy.CUSTOM:
        value = _custom(group, good, limits or SandboxLimits(), errors)
    else:
        value = BUILT_IN[group.strategy](good, warnings)
    is_labelled = group.strategy is MergeStrategy.CONCAT
    return AggregatedResult(
        variable_name=group.variable_name,
        strategy=group.strategy,
        value=value,
        errors=tuple(errors),
        warnings=tuple(warnings),
        completed_at=group.completed_at,
        count=len(outputs),
        status=group.status,
        labels=tuple(item.label or "" for item in good) if is_labelled else (),
        failed=failed,
    )


_Member = TypeVar("_Member", bound=StrEnum)


def known_member(value: object, kind: type[_Member], name: str, code: Refusal) -> _Member:
    """Return a parameter as a member of its enumeration, or raise a ``SpawnError``."""
    try:
        return kind(value.strip() if isinstance(value, str) else "")
    except ValueError:
        shown = shorten(
            repr(value) if type(value) is str else message_text(value), SHOWN_CHARACTERS
        )
        raise SpawnError(
            f"{name} must be one of {', '.join(kind)}, not {shown}", code=code
        ) from None


# The strategies. Each value shares nothing with the outputs; warnings name unusual outputs.


def concat(outputs: Sequence[LabelledOutput], _warnings: list[str]) -> list[Value]:
    return [isolated_copy(item.output) for item in outputs]


def by_key(outputs: Sequence[LabelledOutput], warnings: list[str]) -> dict[str, Value]:
    """Return an object with each output under its label.

    An output without a label has its position as key. A duplicate key gets ``-2``, ``-3``, ... Texts with JSON are
    parsed, also in a fence with a few words around it.
    """
    keyed: dict[str, Value] = {}
    last_numbers: dict[str, int] = {}
    worded: list[str] = []
    for position, item in enumerate(outputs):
        value = isolated_copy(item.output)
        if type(value) is str:
            with suppress(NotJson):
                parsed, around = parse_json_text(value)
                if len(around) <= AROUND_CHARACTERS:
                    value = parsed
                    worded += [item.name] if around else []
        keyed[free_key(keyed, item.label or str(position), last_numbers)] = value
    _warn_of_words(worded, warnings)
    return keyed


def deep_merge(outputs: Sequence[LabelledOutput], warnings: list[str]) -> dict[Value, Value]:
    """Merge objects key by key; the last value wins.

    Lists and scalars are replaced. Warnings list the outputs other than objects, and the keys with several values.
    """
    merged: dict[Value, Value] = {}
    worded: list[str] = []
    replaced: dict[tuple[Value, ...], None] = {}
    for item in outputs:
        try:
            value, around = _object(item.output)
        except NotJson as error:
            warnings.append(f"{item.name}: not merged: {error}")
            continue
        merged = _merge(merged, value, (), replaced)
        worded += [item.name] if around else []
    if replaced:
        paths = [".".join(map(_key_text, path)) for path in replaced]
        keys = _listed(paths)
        warnings.append(
            f"merge: {len(paths)} keys have several values, the last one is used: {keys}"
        )
    _warn_of_words(worded, warnings)
    return merged


def _object(output: Value) -> tuple[dict[Value, Value], str]:
    """Return an output as an object, and the words around it."""
    value, around = output, ""
    if type(output) is str:
        value, around = parse_json_text(output)
    elif type(output) is not dict and isinstance(output, Mapping):
        value = jsonable(output)
    else:
        value = isolated_copy(output)
    if type(value) is not dict:
        raise NotJson(f"a {type_name(value)} is not an object")
    copying = JsonCopy()
    copying.of(value)
    if copying.cut:
        raise NotJson(copying.cut)
    return value, around


def _merge(
    older: dict[Value, Value],
    newer: dict[Value, Value],
    path: tuple[Value, ...],
    replaced: dict[tuple[Value, ...], None],
) -> dict[Value, Value]:
    """Merge two objects at ``path``, and add the paths of replaced values to ``replaced``."""
    merged = dict(older)
    for key, value in newer.items():
        present = merged.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            merged[key] = _merge(present, value, (*path, key), replaced)
            continue
        if key in merged and json_text(present) != json_text(value):
            replaced[*path, key] = None
        merged[key] = value
    return merged


def first(outputs: Sequence[LabelledOutput], _warnings: list[str]) -> Value:
    return isolated_copy(outputs[0].output) if outputs else None


def last(outputs: Sequence[LabelledOutput], warnings: list[str]) -> Value:
    return first(outputs[-1:], warnings)


BUILT_IN: Final[Mapping[MergeStrategy, Callable[[Sequence[LabelledOutput], list[str]], Value]]] = {
    MergeStrategy.CONCAT: concat,
    MergeStrategy.JSON: by_key,
    MergeStrategy.MERGE: deep_merge,
    MergeStrategy.FIRST: first,
    MergeStrategy.LAST: last,
}


def _custom(
    group: Group, outputs: Sequence[LabelledOutput], limits: SandboxLimits, errors: list[str]
) -> Value:
    """Merge outputs by the user's function, which gets copies (O-9).

    If the function fails, the value is a fixed one, and ``errors`` gets the reason.
    """
    function = group.custom_function
    if function is None:
        code = Refusal.MISSING_CUSTOM_FUNCTION
        raise SpawnError('mergeStrategy "custom" needs customFunction', code=code)
    values = [isolated_copy(item.output) for item in outputs]
    try:
        if isinstance(function, str):
            value = _run_text(function, values, limits, group.completed_at)
        else:
            value = function(values)
        reason = unawaited(value)
        if not reason:
            return isolated_copy(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a bad function gives the failure value (rule O-9)
        reason = str(error) if isinstance(error, SandboxError) else failure_text(error)
    errors.append(f"{FAILED}: {reason}")
    return isolated_copy({"error": FAILED, "originalResults": [item.output for item in outputs]})


def _run_text(text: str, values: list[Value], limits: SandboxLimits, now: datetime | None) -> Value:
    """Run a lambda or an expression over ``results`` in the sandbox; its clock shows ``now``."""
    if len(text) > SOURCE_CHARACTERS:
        raise SandboxError(f"the function has more than {SOURCE_CHARACTERS} characters")
    # Other merges load no sandbox.
    from aggregate.agents.sandbox import run_python

    body = text.strip()
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        if isinstance(ast.parse(body, mode="eval").body, ast.Lambda):
            body = f"({body}\n)(results)"
    return run_python(body, {"results": values}, limits=limits, now=now).value


def _warn_of_words(names: Sequence[str], warnings: list[str]) -> None:
    """Warn about outputs with words around their JSON."""
    if names:
        outputs = "output" if len(names) == 1 else f"{len(names)} outputs"
        words = f"the text around the JSON of {outputs} is left out"
        warnings.append(f"{words}: {_listed([_key_text(name) for name in names])}")


def _key_text(key: Value) -> str:
    return shorten(message_text(key), SHOWN_CHARACTERS) or "an unnamed one"


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(names[:SHOWN_KEYS])
    return f"{listed}, ..." if len(names) > SHOWN_KEYS else listed


# JSON in the texts of outputs

_FENCE: Final = re.compile(r"(`{3,50}|~{3,50})[ \t]*([\w+-]*)\s*")
_JSON: Final = ("", "json", "json5", "jsonc")


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """A text without exactly one JSON object or array."""


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def parse_json_text(text: str) -> tuple[Value, str]:
    """Parse a text that is JSON or contains one block of JSON; return the words around it too."""
    body = text.strip()
    if body.startswith(("{", "[")):
        try:
            return _DECODER.decode(body), ""
        except (ValueError, RecursionError) as error:
            raise NotJson(str(error)) from None
    blocks: list[tuple[Value, str]] = []
    position = 0
    while opening := _FENCE.search(body, position):
        value, after = None, opening.end()
        if opening[2].lower() in _JSON and body.startswith(("{", "["), after):
            with suppress(ValueError, RecursionError):
                # By value: a text inside the JSON may contain backticks.
                value, after = _DECODER.raw_decode(body, after)
        if value is not None and (closing := re.compile(rf"\s*{opening[1]}").match(body, after)):
            blocks.append((value, f"{body[: opening.start()]} {body[closing.end() :]}".strip()))
        else:
            closing = re.compile(rf"(?<=\n)[ \t]*{opening[1]}").search(body, opening.end())
        if closing is None:
            break
        position = closing.end()
    if not blocks:
        raise NotJson("the text does not begin as JSON")
    if len(blocks) > 1:
        raise NotJson(f"the text contains {len(blocks)} JSON blocks, not one")
    return blocks[0]
