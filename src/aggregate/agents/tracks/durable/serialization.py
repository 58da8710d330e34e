"""How values stand in the database of durable runs: as JSON alone.

DBOS pickles by default, and whatever it is told, it reads each row by the format that the row itself names. A pickle
runs code when it is read, so a row that somebody else put there would run theirs. Here values are written as JSON, and
in this process DBOS can read no pickle any more: not from SQLite, not from Postgres, not from a row that is entered
while a run is under way.
"""

from typing import Any, NoReturn

from dbos import DBOSPortableJSONSerializer
from dbos._serialization import DefaultSerializer

from aggregate.base.errors import StateError

JSON = DBOSPortableJSONSerializer()
"""What workflows' inputs, outputs and steps are written with."""
NOT_JSON = "is not JSON of ours"
"""What is said of a row that somebody else wrote."""


def refuse_pickles() -> None:
    """Make DBOS refuse each pickled value before it is decoded, from now on and in the whole process.

    The library has no setting for that: the format of a row goes before the serializer of a client or a configuration.
    """
    DefaultSerializer.deserialize = _refuse  # type: ignore[method-assign, assignment]


def _refuse(_self: DefaultSerializer, _text: str) -> Any:  # noqa: ANN401 - in the place of a method that returns anything
    refuse_row("a value")


def refuse_row(name: str, fault: str = NOT_JSON) -> NoReturn:
    """Raise what is said of a row that is not read.

    Raises:
        StateError: Always.
    """
    raise StateError(
        f"{name} in the database {fault} and is not read: it comes from an older version or from somebody "
        "else; end the run with `aggregate conduct cancel`, delete it with `aggregate conduct forget`, or use another "
        "--database"
    )
