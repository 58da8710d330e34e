"""JSON Schemas of tickets' answers: read, check and apply them.

Neither schemas (from the project) nor answers (from a model) are trusted. A schema cannot read files or the network,
and its patterns take linear time. A schema with references is applied in a child process with a timeout: forty
definitions that each refer twice to the next one would take years.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from aggregate.agents.results import NotJson, parse_json_text
from aggregate.base.concurrency import Call, in_children
from aggregate.base.disk.reading import UnreadableError, read_bytes
from aggregate.base.disk.writing import confined
from aggregate.base.errors import AggregateError, OutputError, WorkerError
from aggregate.base.messages import install_command, shorten
from aggregate.base.values import Value

# Faults shown to a model, which mends the others with them
ERRORS_SHOWN: Final = 5
_ERROR_CHARACTERS: Final = 300  # of one fault: it quotes the value at fault, which may be long
_SCHEMA_BYTES: Final = 200_000  # of a file with a schema: it goes to a provider with each request
# Of an answer against a schema that refers to itself: an honest one takes milliseconds, but where ten programs share a
# core its process takes seconds to start, and the answer was paid for.
CHECK_SECONDS: Final = 20.0


class AnswerSchemaError(ValueError):
    """A mismatch of answer and schema; the text lists the faults."""


def read_schema(answer: Mapping[str, Any] | str, folder: Path) -> dict[str, Any]:
    """Return and check the schema of a ticket's answer.

    ``answer`` is the schema, or the name of its file in ``folder``.
    """
    schema = _read(answer, folder) if isinstance(answer, str) else dict(answer)
    try:
        _validator(schema)
    except ImportError as error:
        raise ValueError(_missing(error)) from None
    except ValueError as error:
        reason = shorten(str(error).strip().split("\n")[0], _ERROR_CHARACTERS)
        raise ValueError(f"this is not a JSON Schema ({reason}): correct it") from None
    return schema


def checked_answer(text: str, schema: Mapping[str, Any], *, seconds: float = CHECK_SECONDS) -> str:
    """Return the JSON of an answer without text around it.

    Raises ``AnswerSchemaError`` if it does not match the schema.
    """
    try:
        value = parse_json_text(text)[0]
    except NotJson as reason:
        try:
            value = json.loads(text)  # a number, a text or a truth value alone
        except (ValueError, RecursionError):
            raise AnswerSchemaError(f"it is not JSON: {reason}") from None
    try:
        refers = any(key.endswith(("Ref", "$ref")) for part in _objects(schema) for key in part)
        faults = _faults_in_child(value, schema, seconds) if refers else faults_of(value, schema)
    except ImportError as error:
        raise WorkerError(_missing(error), again=False) from None
    if faults:
        raise AnswerSchemaError("; ".join(faults))
    return json.dumps(value, ensure_ascii=False, indent=1)


def faults_of(value: Value, schema: Mapping[str, Any]) -> list[str]:
    faults: list[str] = []
    for fault in islice(_validator(schema).iter_errors(value), ERRORS_SHOWN):
        place = "/".join(map(str, fault.instance_path))
        message = shorten(fault.message, _ERROR_CHARACTERS)
        faults.append(f"{place}: {message}" if place else message)
    return faults


def _faults_in_child(value: Value, schema: Mapping[str, Any], seconds: float) -> list[str]:
    import jsonschema_rs  # noqa: F401 - its absence has its own message

    request = Call(None, faults_of, (value, schema))
    try:
        (call,) = in_children([request], workers=1, patience=seconds)
    except AggregateError as error:
        raise WorkerError(f"the answer could not be checked: {error}", again=False) from None
    if isinstance(call.answer, Exception) or call.answer is None:
        reason = f"its schema takes more than {seconds:g} s to check: simplify its references"
        raise WorkerError(reason, again=False)
    return call.answer


def enforced_schema(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a schema enforceable by all providers, else ``None``.

    Every object in the schema must require all its properties and allow no others: see ``ChatRequest.schema``.
    """
    is_object = schema is not None and schema.get("type") == "object"
    return schema if is_object and all(map(_is_strict, _objects(schema))) else None


def _is_strict(part: Mapping[str, Any]) -> bool:
    properties = part.get("properties")
    if part.get("type") != "object" and not isinstance(properties, Mapping):
        return True
    names = set(properties) if isinstance(properties, Mapping) else set()
    return part.get("additionalProperties") is False and names == set(part.get("required", []))


def _objects(part: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 - any part of a schema
    children: Iterable[Any] = part if isinstance(part, list) else ()
    if isinstance(part, Mapping):
        yield part
        children = part.values()
    for child in children:
        yield from _objects(child)


def _validator(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the library may be missing
    import jsonschema_rs  # the extra "agents", which a list of tracks does without

    # Without ``offline`` a schema could fetch parts of itself; the usual patterns take time without bound.
    return jsonschema_rs.validator_for(
        dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions()
    )


def _missing(error: ImportError) -> str:
    return f"answers are checked by {error.name}: {install_command('agents')}"


def _read(name: str, folder: Path) -> dict[str, Any]:
    try:
        schema = json.loads(read_bytes(confined(folder / name, folder), limit=_SCHEMA_BYTES))
    except OutputError:
        raise ValueError(f"{name} is outside of the track: move it to {folder}") from None
    except (UnreadableError, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{name} cannot be read ({reason}): name a file in {folder}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON ({error}): correct it") from None
    if not isinstance(schema, dict):
        raise ValueError(f"{name} is not a JSON object, as a schema must be")
    return schema
