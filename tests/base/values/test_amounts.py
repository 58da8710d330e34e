"""Numbers of tokens as people write them."""

import pytest
from hypothesis import given, strategies as st

from aggregate.base.values import AUTO, MOST_TOKENS, parse_amount, parse_number


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("1", 1),
        ("32000", 32_000),
        ("32k", 32_000),
        ("32K", 32_000),
        ("1.5m", 1_500_000),
        ("1.50k", 1_500),
        ("32_000", 32_000),
        ("32,000", 32_000),
        ("1,000k", 1_000_000),
        (" 8k\n", 8_000),
        ("0.5k", 500),
        ("1000m", MOST_TOKENS),
    ],
)
def test_what_names_a_number(text: str, tokens: int) -> None:
    """Plain, grouped by commas or underscores, and in thousands or millions (rule B-1)."""
    assert parse_number(text) == tokens


NO_NUMBERS = """0 0k -1 1.5 1.0005k 3,2 32,00 1_0 1e3 k .5k 32kk 1000.1m 9999999999 ٣٢ full auto 1.k 0x10 NaN inf"""


@pytest.mark.parametrize("text", [*NO_NUMBERS.split(), "", "32 k", "9" * 5_000])
def test_what_names_none(text: str) -> None:
    """Nothing, less than one, parts, other notations and what no model could read are one sentence (rule B-1)."""
    with pytest.raises(
        ValueError, match=r"^must be a number of tokens from 1 to 1,000,000,000, such as"
    ):
        parse_number(text)


@pytest.mark.parametrize("value", [True, 1.5, 32.0, None, [], 0, -5, MOST_TOKENS + 1, "autos", ""])
def test_a_configurations_value_is_checked_too(value: object) -> None:
    """A value of another type, or out of bounds, is the same sentence, which offers ``auto`` (rule B-1)."""
    with pytest.raises(ValueError, match=r"^must be a number of tokens .*, or auto$"):
        parse_amount(value)


def test_auto_and_numbers_are_amounts() -> None:
    """``auto`` stays what it is, numbers and texts become numbers (rule B-1)."""
    assert [parse_amount(value) for value in ("auto", 5, "5k")] == [AUTO, 5, 5_000]


@given(st.integers(1, MOST_TOKENS))
def test_each_way_to_write_a_number_gives_it(tokens: int) -> None:
    """What is written plain, grouped either way, or in thousands is read back (rule B-1)."""
    thousands = f"{tokens // 1000}.{tokens % 1000:03}k"
    for text in (str(tokens), f"{tokens:,}", f"{tokens:_}", thousands):
        assert parse_number(text) == tokens


@given(st.text(alphabet="0123456789,._kKmM -", max_size=20))
def test_any_text_gives_a_number_within_bounds_or_a_sentence(text: str) -> None:
    """No text gives another error, nor a number that is no budget (rule B-1)."""
    try:
        tokens = parse_number(text)
    except ValueError as error:
        assert str(error).startswith("must be")  # noqa: PT017 - either is right
    else:
        assert 1 <= tokens <= MOST_TOKENS
