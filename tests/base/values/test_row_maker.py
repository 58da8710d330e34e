"""Named tuples that are made without a call of their class."""

from typing import NamedTuple

from aggregate.base.values import row_maker


class Row(NamedTuple):
    """Two fields."""

    name: str
    size: int = 0


def test_a_row_is_what_its_class_makes() -> None:
    """The value has the class, the fields and the type of one that the class itself makes."""
    row = row_maker(Row)(("a", 1))
    assert row == Row("a", 1)
    assert type(row) is Row
    assert (row.name, row.size) == ("a", 1)
