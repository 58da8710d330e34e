"""Merge labelled outputs (O-3).

The merge follows a strategy or a custom function. Texts may be JSON: bare, or inside one Markdown fence with or without
words around it.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from aggregate.agents.results.group import CustomFunction, FailurePolicy, Group, LabelledOutput
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

_FENCE = re.compile(r"(`{3,50}|~{3,50})[ \t]*([\w+-]*)\s*")
_JSON = ("", "json", "json5", "jsonc")


class NotJson(ValueError):  # noqa: N818 - an answer to a question, not a fault
    """A text without exactly one JSON object or array."""


def parse_json_text(text: str) -> tuple[Value, str]:
    """Parse a text that is JSON or contains one block of JSON."""
    body = text.strip()
    if body.startswith(("{", "[")):
        try:
            return _DECODER.decode(body), ""
        except (ValueError, RecursionError) as error:
            raise NotJson(str(error)) from None
    blocks = []
    position = 0
    while opening := _FENCE.search(body, position):
        value, after = None, opening.end()
        if opening[2].lower() in _JSON and body.startswith(("{", "["), after):
            try:
                # By value: a text inside the JSON may contain backticks.
                value, after = _DECODER.raw_decode(body, after)
            except (ValueError, RecursionError):
                value = None
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


def _refuse(constant: str) -> Value:
    raise NotJson(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
SHOWN_KEYS = 5  # keys or outputs in a warning
KEY_CHARACTERS = 100
AROUND_CHARACTERS = 500  # words around the JSON of a text; with more it is a report of its own


@dataclass(frozen=True, slots=True)
class Merged:
    """A merged value, which shares nothing with the outputs, and their labels."""

    value: Value
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def concat(outputs: Sequence[LabelledOutput]) -> Merged:
    labels = tuple(item.label or "" for item in outputs)
    return Merged([isolated_copy(item.output) for item in outputs], labels=labels)


def by_key(outputs: Sequence[LabelledOutput]) -> Merged:
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
            try:
                parsed, around = parse_json_text(value)
                if len(around) <= AROUND_CHARACTERS:
                    value = parsed
                    worded += [item.name] if around else []
            except NotJson:
                pass
        keyed[free_key(keyed, item.label or str(position), last_numbers)] = value
    return Merged(keyed, _left_out(worded))


def deep_merge(outputs: Sequence[LabelledOutput]) -> Merged:
    """Merge objects key by key; the last value wins.

    Lists and scalars are replaced. Warnings list the outputs other than objects, and the keys with several values.
    """
    merged: dict[Value, Value] = {}
    warnings: list[str] = []
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
        paths = list(replaced)[: SHOWN_KEYS + 1]
        keys = _names(
            [".".join(shorten(message_text(key), KEY_CHARACTERS) for key in path) for path in paths]
        )
        warnings.append(
            f"merge: {len(replaced)} keys have several values, the last one is used: {keys}"
        )
    return Merged(merged, (*warnings, *_left_out(worded)))


def _object(output: Value) -> tuple[dict[Value, Value], str]:
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


def _left_out(worded: Sequence[str]) -> tuple[str, ...]:
    if not worded:
        return ()
    outputs = "output" if len(worded) == 1 else f"{len(worded)} outputs"
    return (f"the text around the JSON of {outputs} is left out: {_names(worded)}",)


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(
        shorten(name, KEY_CHARACTERS) or "an unnamed one" for name in names[:SHOWN_KEYS]
    )
    return f"{listed}, ..." if len(names) > SHOWN_KEYS else listed


def first(outputs: Sequence[LabelledOutput]) -> Merged:
    return Merged(isolated_copy(outputs[0].output) if outputs else None)


def last(outputs: Sequence[LabelledOutput]) -> Merged:
    return first(outputs[-1:])


BUILT_IN: Mapping[MergeStrategy, Callable[[Sequence[LabelledOutput]], Merged]] = {
    MergeStrategy.CONCAT: concat,
    MergeStrategy.JSON: by_key,
    MergeStrategy.MERGE: deep_merge,
    MergeStrategy.FIRST: first,
    MergeStrategy.LAST: last,
}
# The documented text of the failure value (rule O-9)
FAILED = "Custom merge function failed"


def _custom(group: Group, outputs: Sequence[LabelledOutput], limits: SandboxLimits) -> Merged:
    """Merge outputs by the user's function (O-9).

    If the function fails, the value is a fixed one. The function gets copies. A function as text (a lambda or an
    expression over ``results``) runs in the sandbox within ``limits``; its clock shows when the group ended.
    """
    function = group.custom_function
    if function is None:
        raise SpawnError(
            'mergeStrategy "custom" needs customFunction', code=Refusal.MISSING_CUSTOM_FUNCTION
        )
    values = [isolated_copy(item.output) for item in outputs]
    try:
        value = _call(function, values, limits, group.completed_at)
        reason = unawaited(value)
        if not reason:
            return Merged(isolated_copy(value))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a bad function gives the failure value (rule O-9)
        reason = str(error) if isinstance(error, SandboxError) else failure_text(error)
    failure = {"error": FAILED, "originalResults": [item.output for item in outputs]}
    return Merged(isolated_copy(failure), errors=(f"{FAILED}: {reason}",))


def _call(
    function: CustomFunction, values: list[Value], limits: SandboxLimits, now: datetime | None
) -> Value:
    if not isinstance(function, str):
        return function(values)
    if len(function) > SOURCE_CHARACTERS:
        raise SandboxError(f"the function has more than {SOURCE_CHARACTERS} characters")
    # Other merges load no sandbox.
    from aggregate.agents.sandbox import run_python

    body = function.strip()
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        if isinstance(ast.parse(body, mode="eval").body, ast.Lambda):
            body = f"({body}\n)(results)"
    return run_python(body, {"results": values}, limits=limits, now=now).value


SHOWN = 100  # characters of a wrong parameter in a message
VARIABLE = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")  # rule O-20


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
    chosen = known_strategy(strategy)
    group = Group("$results", chosen, custom_function, status=GroupStatus.COMPLETE)
    return merge_group(group, outputs, limits=limits)


def merge_group(
    group: Group, outputs: Sequence[LabelledOutput], *, limits: SandboxLimits | None = None
) -> AggregatedResult:
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
    if group.strategy is MergeStrategy.CUSTOM:
        merged = _custom(group, good, limits or SandboxLimits())
    else:
        merged = BUILT_IN[group.strategy](good)
    failed = len(errors)
    if group.on_error is FailurePolicy.SKIP:
        errors = []
    return AggregatedResult(
        variable_name=group.variable_name,
        strategy=group.strategy,
        value=merged.value,
        errors=(*errors, *merged.errors),
        warnings=(*warnings, *merged.warnings),
        completed_at=group.completed_at,
        count=len(outputs),
        status=group.status,
        labels=merged.labels,
        failed=failed,
    )


def known_strategy(value: object) -> MergeStrategy:
    if type(value) is MergeStrategy:
        return value
    try:
        return MergeStrategy(value.strip() if isinstance(value, str) else "")
    except ValueError:
        names = ", ".join(MergeStrategy)
        shown = shorten(repr(value) if type(value) is str else message_text(value), SHOWN)
        raise SpawnError(
            f"mergeStrategy must be one of {names}, not {shown}",
            code=Refusal.INVALID_MERGE_STRATEGY,
        ) from None
