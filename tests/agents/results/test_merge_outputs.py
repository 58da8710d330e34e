"""The six merge strategies on outputs alone (rules O-3, O-9, O-49, O-52, O-55)."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, strategies as st

from aggregate import AggregatedResult, LabelledOutput, SpawnError, merge_outputs
from aggregate.base.json_forms import DEPTH


def merged(strategy: str, *outputs: object, labels: tuple[str, ...] = ()) -> AggregatedResult:
    names = [*labels, *[""] * (len(outputs) - len(labels))]
    pairs = enumerate(zip(outputs, names, strict=True), 1)
    return merge_outputs(
        [LabelledOutput(output, name or None, f"main-{n}") for n, (output, name) in pairs], strategy
    )


TABLE = [
    ("concat", ["a", {"n": 1}, 7], (), ["a", {"n": 1}, 7]),
    ("concat", [], (), []),
    ("json", ["x", "y"], (), {"0": "x", "1": "y"}),
    ("json", ["x", "y"], ("a", "b"), {"a": "x", "b": "y"}),
    ("json", ["x", "y", "z"], ("a", "a", "a"), {"a": "x", "a-2": "y", "a-3": "z"}),
    ("json", ["x", "y", "z"], ("a", "a-2", "a"), {"a": "x", "a-2": "y", "a-3": "z"}),
    ("json", ["x", "y"], ("1",), {"1": "x", "1-2": "y"}),
    ("json", ['{"n": [1]}', "[7]", "42", "null", "plain {", '{"n": NaN}'], (),
     {"0": {"n": [1]}, "1": [7], "2": "42", "3": "null", "4": "plain {", "5": '{"n": NaN}'}),
    ("json", ['```json\n{"n": 1}\n```', '~~~\n[1]\n~~~\n', "```py\n{}\n```"], (),
     {"0": {"n": 1}, "1": [1], "2": "```py\n{}\n```"}),
    ("json", ['Here it is:\n```json\n{"n": "```"}\n```\nHope this helps!', 'Sure: ```json {"n": 1}```', "x" * 501 + '\n```\n[1]\n```'],
     ("a", "b", "c"), {"a": {"n": "```"}, "b": {"n": 1}, "c": "x" * 501 + '\n```\n[1]\n```'}),
    ("json", [f'{"x" * 500}\n```\n[1]\n```'], (), {"0": [1]}),
    ("merge", ['Result:\n\n```json {"a": 1}```', '~~~JSON\n{"b": [2]}\n~~~\nDone.', "x" * 501 + '\n```\n{"c": 3}\n```',
               'It is ```json\n{"d": 4}\n``` as asked', '```py\n{"x": 1}\n```\n\n{"y": 1}\n\n```json\n{"e": 5}\n```'],
     (), {"a": 1, "b": [2], "c": 3, "d": 4, "e": 5}),
    ("merge", [{"a": {"x": 1}}, {"a": {"y": 2}}], (), {"a": {"x": 1, "y": 2}}),
    ("merge", ['{"a": 1}', '```\n{"b": 2}\n```', {"c": 3}], (), {"a": 1, "b": 2, "c": 3}),
    ("merge", [{"a": [1, 2]}, {"a": [3]}], (), {"a": [3]}),
    ("merge", [{"a": 1}, {"a": None}], (), {"a": None}),
    ("merge", [{"a": {"x": 1}}, {"a": 5}], (), {"a": 5}),
    ("first", ["a", "b"], (), "a"),
    ("last", ["a", "b"], (), "b"),
    ("first", [], (), None),
]  # fmt: skip


@pytest.mark.parametrize(("strategy", "outputs", "labels", "value"), TABLE)
def test_the_table_of_strategies(
    strategy: str, outputs: list[object], labels: tuple[str, ...], value: object
) -> None:
    """Each strategy gives the value of the table (O-3, O-52)."""
    result = merged(strategy, *outputs, labels=labels)
    assert result.value == value
    assert result.count == len(outputs)


def test_what_cannot_be_merged_is_named() -> None:
    """An output that is no object is left out of a merge with a warning, not silently (O-3, O-48)."""
    result = merged("merge", {"a": 1}, "no JSON", "[7]", 5, '{"b": 2}', labels=("", "B"))
    assert result.value == {"a": 1, "b": 2}
    assert result.warnings == (
        "B: not merged: the text does not begin as JSON",
        "main-3: not merged: a list is not an object",
        "main-4: not merged: a int is not an object",
    )


def test_words_around_json_are_named() -> None:
    """Words that a fence stood in are left out and said so; a text with two blocks of JSON is none (O-3)."""
    worded, two = 'Here:\n```json\n{"a": 1}\n```\nBye', '```\n{"a": 1}\n```\n```\n{"b": 2}\n```'
    result = merged("merge", worded, two, worded, labels=("A", "B", "C"))
    assert result.value == {"a": 1}
    assert result.warnings == (
        "B: not merged: the text contains 2 JSON blocks, not one",
        "the text around the JSON of 2 outputs is left out: A, C",
    )


def test_keys_with_several_values_are_named() -> None:
    """The last value stands, and the envelope says which keys had others (O-3)."""
    result = merged("merge", {"a": 1, "b": {"c": 1}, "same": 1}, {"a": 2, "b": {"c": 2}, "same": 1})
    assert result.value == {"a": 2, "b": {"c": 2}, "same": 1}
    assert result.warnings == ("merge: 2 keys have several values, the last one is used: a, b.c",)
    many = merged("merge", dict.fromkeys("abcdefg", 1), dict.fromkeys("abcdefg", 2))
    assert many.warnings == (
        "merge: 7 keys have several values, the last one is used: a, b, c, d, e, ...",
    )


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"n": value}
    return value


def test_depth_is_bounded() -> None:
    """Objects deeper than the bound are left out with a warning; no recursion error, however deep (O-3)."""
    result = merged("merge", nested(DEPTH - 1), nested(DEPTH), nested(5_000), "[" * 100_000)
    assert result.value == nested(DEPTH - 1)
    assert [warning.split(":")[0] for warning in result.warnings] == ["main-2", "main-3", "main-4"]
    assert merged("json", "[" * 100_000).value == {"0": "[" * 100_000}
    deep = merged("concat", nested(5_000)).value[0]
    for _ in range(5_000):
        deep = deep["n"]
    assert deep == {}


def test_dangerous_names_are_plain_keys() -> None:
    """__proto__ and __class__ are keys like any other; nothing is set on a type (O-3)."""
    hostile = '{"__proto__": {"polluted": 1}, "__class__": {"x": 1}}'
    result = merged("merge", hostile, {"__class__": {"y": 2}})
    assert result.value == {"__proto__": {"polluted": 1}, "__class__": {"x": 1, "y": 2}}
    assert not hasattr({}, "polluted")


def test_failures_and_empty_outputs_stand_beside_the_value() -> None:
    """Failed outputs are counted and listed, empty ones kept with a warning (O-48, O-55)."""
    empty = [LabelledOutput("", "A"), LabelledOutput(None, None, "main-2")]
    result = merge_outputs([*empty, LabelledOutput(label="C", error="timeout")])
    assert (result.value, result.count) == (["", None], 3)
    assert result.errors == ("C failed: timeout",)
    assert result.warnings == ("A: the output is empty", "main-2: the output is empty")


def test_a_merge_needs_a_known_strategy() -> None:
    """An unknown strategy, and custom without a function, are refused (O-21, O-22)."""
    with pytest.raises(SpawnError):
        merge_outputs([], "sum")
    with pytest.raises(SpawnError):
        merge_outputs([], "custom")


KEYS = st.sampled_from(["a", "b", "c", "__proto__", "__class__", "constructor"])
LEAF = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "[1]", "{"])
INNER = LEAF | st.dictionaries(KEYS, LEAF, max_size=2)
JSON = LEAF | st.lists(LEAF, max_size=2) | st.dictionaries(KEYS, INNER, max_size=3)
OBJECTS = st.dictionaries(KEYS, JSON, max_size=4)


@given(st.lists(OBJECTS, max_size=5))
def test_merging_changes_no_input_and_shares_nothing_with_it(objects: list[dict[str, Any]]) -> None:
    """Whatever is merged stays as it was, also after the value has been changed (O-3, O-53)."""
    before = deepcopy(objects)
    for strategy in ("concat", "json", "merge", "first", "last"):
        value = merged(strategy, *objects).value
        spoil(value)
        assert objects == before


def spoil(value: object) -> None:
    """Empty every list and dictionary inside ``value``."""
    if isinstance(value, list | dict):
        for child in list(value.values() if isinstance(value, dict) else value):
            spoil(child)
        value.clear()


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_goes_from_left_to_right(
    a: dict[str, Any], b: dict[str, Any], c: dict[str, Any]
) -> None:
    """Merging the first ones before the rest gives what merging at once gives; an object merged with itself stays.

    Rules: 2.4.
    """
    assert merged("merge", merged("merge", a, b).value, c).value == merged("merge", a, b, c).value
    assert merged("merge", a, a).value == a


@given(st.lists(st.tuples(JSON, st.sampled_from(["", "a", "b", "0", "1", "a-2"])), max_size=6))
def test_nothing_is_lost_by_key(pairs: list[tuple[Any, str]]) -> None:
    """The json strategy keeps every output, in order, whatever the labels (O-3)."""
    outputs = [LabelledOutput([output], label or None) for output, label in pairs]
    assert list(merge_outputs(outputs, "json").value.values()) == [item.output for item in outputs]
