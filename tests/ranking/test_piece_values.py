"""Values of nearly all pieces, by file."""

import pytest

from aggregate.ranking.evidence import PieceValues


def test_it_is_a_mapping_of_what_is_not_zero() -> None:
    """It equals the dictionary of its values above 0; anything else is absent."""
    values = PieceValues({3: [0.0, 2.0], 5: [4.0]})
    assert dict(values) == {(3, 1): 2.0, (5, 0): 4.0}
    assert len(values) == 2
    assert dict(values.scaled()) == {(3, 1): 0.5, (5, 0): 1.0}
    for absent in ((3, 0), (3, 2), (3, -1), (4, 0)):
        with pytest.raises(KeyError):
            values[absent]
    assert dict(PieceValues({1: [0.0]}).scaled()) == {}
