"""One odd value stops no prompt, no choice, no merge and no report; it becomes a visible item."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from aggregate import (
    CompilationContext,
    ConfigError,
    LabelledOutput,
    MetadataBasedResultCompiler,
    Place,
    SubagentSession,
    Task,
    build_tier3_context,
    merge_outputs,
    run,
    select_answer,
)
from aggregate.base import Value
from aggregate.base.json_forms import json_text, jsonable
from tests.hostile.values import ODD, SHOWN, anything
from tests.projects import project

NOON = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
BUILT_IN = ("concat", "json", "merge", "first", "last")


def prompt_of(results: Any, folder: Path, **options: Any) -> str:
    text = build_tier3_context(
        [], folder, [], [], [], results=results, cache_dir=folder / "cache", **options
    )
    return text.encode().decode()


@pytest.mark.parametrize("name", ODD)
def test_every_odd_value_is_a_visible_item(name: str, tmp_path: Path) -> None:
    """Whatever one agent returns, each strategy merges, and the prompt is made with the others' results in it."""
    for strategy in BUILT_IN:
        outputs = [LabelledOutput({"a": "neighbour"}, "A"), LabelledOutput(ODD[name](), "B")]
        result = merge_outputs([*outputs, LabelledOutput({"z": "neighbour"}, "C")], strategy)
        assert result.count == 3
        for threshold in (1, 1_000_000):
            text = prompt_of({"$all": result}, tmp_path, results_threshold=threshold)
            assert text.startswith("## Sub-Agent Results\n\n### $results\n\n")
    alone = prompt_of(
        merge_outputs([LabelledOutput(ODD[name]())], "first"), tmp_path, results_threshold=10**6
    )
    assert "```" in alone


@pytest.mark.parametrize(
    ("value", "shown"), SHOWN, ids=[type(value).__name__ for value, _ in SHOWN]
)
def test_values_show_what_they_are(value: Any, shown: Any) -> None:
    """Dates, decimals, paths, bytes, sets, dataclasses, models and arrays show their value, keys become texts."""
    assert jsonable(value) == shown
    assert json.loads(json_text(value)) == shown


@given(anything)
def test_any_value_is_json(value: Any) -> None:
    """Whatever it is made of, a value has one text: JSON that every reader takes, twice the same, as UTF-8."""
    text = json_text(value, indent=2)
    text.encode()
    json.loads(text, parse_constant=pytest.fail)
    assert json_text(value, indent=2) == text


@given(anything, anything)
def test_any_values_are_merged_chosen_and_compiled(one: Any, other: Any) -> None:
    """No combination of odd values stops a merge, a choice or a report."""
    for strategy in BUILT_IN:
        json_text(merge_outputs([LabelledOutput(one, "A"), LabelledOutput(other)], strategy))
    assert select_answer("how many runs", [one, other]).summary
    report = MetadataBasedResultCompiler().compile_results(
        [("t", one), ("t", other)], CompilationContext("", [], NOON)
    )
    assert report["analysis_metadata"]["tools_executed"] == 2


def test_run_is_never_stopped(tmp_path: Path) -> None:
    """The whole pipeline writes its prompt beside every odd value at once, and beside what is no result at all."""
    project(tmp_path, {"manual_slop.toml": '[files]\npaths = ["a.py"]\n', "a.py": "x = 1\n"})
    named = {name: merge_outputs([LabelledOutput(make())], "first") for name, make in ODD.items()}
    for results in (named, {name: make() for name, make in ODD.items()}, "text", 5):
        config = tmp_path / "manual_slop.toml"
        markdown, path, _ = run(config, results=results, results_threshold=500)  # type: ignore[arg-type]
        assert path.read_text(encoding="utf-8") == markdown
        assert "## Sub-Agent Results" in markdown


@pytest.mark.parametrize("strategy", BUILT_IN)
def test_a_coroutine_is_refused(strategy: str, tmp_path: Path) -> None:
    """What nobody awaited is no value: it is a failed result with one sentence, never an item of the value."""

    async def answer() -> str:
        await asyncio.sleep(0)
        return "late"

    session = SubagentSession()
    first, second = (
        session.spawn("t", collect_into="$a", merge_strategy=strategy) for _ in range(2)
    )
    assert session.complete(first.run_id, answer())
    session.complete(second.run_id, {"b": 1})
    reason = "the output is a coroutine that was not awaited: await it and report its result"
    assert session.subagent_results["$a"].errors == (f"main-1 failed: {reason}",)
    assert merge_outputs([LabelledOutput(answer(), "A")], strategy).errors == (
        f"A failed: {reason}",
    )
    assert reason in prompt_of([answer()], tmp_path)
    custom = merge_outputs([LabelledOutput(1)], "custom", custom_function=lambda _: answer())
    assert custom.errors == (f"Custom merge function failed: {reason}",)


def holds_itself_twice() -> dict[str, Value]:
    """Return an object that is two of its own entries, so that each level has twice as many."""
    value: dict[str, Value] = {}
    value["a"] = value["b"] = value
    return value


def test_a_deep_merge_ends() -> None:
    """What holds itself is left out of a deep merge with a warning; the rest is merged."""
    outputs = [LabelledOutput(holds_itself_twice(), "a"), LabelledOutput({"q": 1}, "b")]
    result = merge_outputs(outputs, "merge")
    assert result.value == {"q": 1}
    assert result.warnings[0].startswith("a: not merged: ")


def test_a_deep_merge_changes_one_key_alone() -> None:
    """Two keys of an output that hold the same object are merged into one by one."""
    shared = {"n": 0}
    outputs = [LabelledOutput({"a": shared, "b": shared}), LabelledOutput({"a": {"n": 5}})]
    assert merge_outputs(outputs, "merge").value == {"a": {"n": 5}, "b": {"n": 0}}


def test_an_iterator_without_end_ends(tmp_path: Path) -> None:
    """What is no list of results is shown as one odd value, and nothing is taken from it."""
    assert "<callable_iterator>" in prompt_of(iter(int, 1), tmp_path)


HALF = "half \ud83d of a pair"
SLICE = {"start_line": 1, "end_line": 2, "tag": HALF, "comment": HALF}
SLICED = {"path": "a.py", "view_mode": "custom", "custom_slices": [SLICE]}
MASKED = {"path": "a.py", "view_mode": "masked", "ast_mask": {HALF: "def"}}


@pytest.mark.parametrize(
    ("tables", "asked"),
    [
        ({"discussion": {"history": [HALF, {"role": HALF, "content": HALF}]}}, {}),
        ({"discussion": {"history": [f"```\n{HALF}", "next"]}}, {"budget": 2_000}),
        ({"task": {"text": HALF}}, {}),
        ({}, {"task": HALF, "budget": 2_000}),
        ({}, {"task": Task(HALF, (Place(HALF),), (HALF,))}),
        ({}, {"results": {"$a": [HALF], HALF: HALF}}),
        ({"project": {"name": HALF}}, {}),
        ({"files": {"paths": [MASKED]}}, {}),
        ({"files": {"paths": [SLICED]}}, {}),
    ],
)
def test_half_a_surrogate_pair_stops_no_prompt(
    tables: dict[str, dict[str, Any]], asked: dict[str, Any], tmp_path: Path
) -> None:
    """Whatever text has one, it is shown by its number where it stands in the prompt."""
    project(tmp_path, {"a.py": "def a():\n    return 1\n"})
    config = {"output": {"output_dir": str(tmp_path / "out")}, **tables}
    config["files"] = {"base_dir": str(tmp_path), "paths": ["a.py"], **tables.get("files", {})}
    markdown, path, _ = run(config, **asked)
    assert path.read_text(encoding="utf-8") == markdown
    assert ("\\ud83d" in markdown) == bool(
        tables.get("discussion")
        or "results" in asked
        or {"task", "budget"} <= asked.keys()  # it ends with the task
        or "view_mode" in str(tables)
    )


@pytest.mark.parametrize(
    "tables",
    [
        {"files": {"paths": [HALF]}},
        {"files": {"exclude": [HALF]}},
        {"screenshots": {"paths": [HALF]}},
    ],
)
def test_half_a_surrogate_pair_names_no_file(tables: dict[str, Any]) -> None:
    """What names or matches files is refused in a sentence."""
    with pytest.raises(ConfigError, match="unpaired surrogates"):
        run(tables)
