"""Sub-agents' results as a section of a prompt."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st
from tests.projects import project
from tests.prompt.composing import result, segments
from tests.rendering import headings

from aggregate import (
    Answer,
    LabelledOutput,
    SubagentSession,
    build_tier3_context,
    load_data_reference,
    merge_outputs,
    run,
)
from aggregate.base.values import AnswerKind, AnswerSource


def text_of(results: Any) -> str:
    """Return the section as one text."""
    return "\n\n".join(segment.text for segment in segments(results=results))


def test_a_session_folds_in_by_variable() -> None:
    """One heading per variable with strategy, count and failures; the text in a fence; failures listed (O-2, O-48)."""
    session = SubagentSession()
    runs = [session.spawn("look", label=name, collect_into="$findings") for name in ("A", "B", "C")]
    other = session.spawn("count", collect_into="$count", merge_strategy="last")
    session.complete(runs[0].run_id, "three\nfiles")
    session.fail(runs[1].run_id, "no network\n# Forged")
    session.complete(runs[2].run_id, "```\nfour")
    session.complete(other.run_id, {"n": 2})
    assert text_of(session.subagent_results) == (
        "## Sub-Agent Results\n\n"
        "### $findings\n\n"
        "concat of 3 results, 1 failed\n\n"
        "```text\nA: three\nfiles\n\nC: ```\nfour\n```\n\n"
        "Failed:\n\n```text\nB failed: no network # Forged\n```\n\n"
        "### $count\n\n"
        "last of 1 result\n\n"
        '```json\n{\n  "n": 2\n}\n```'
    )


def test_an_open_group_says_so() -> None:
    """A group that is not complete shows its state and no value (O-44)."""
    session = SubagentSession()
    first, _ = (session.spawn("look", collect_into="$x") for _ in range(2))
    session.complete(first.run_id, "early")
    assert text_of(session.subagent_results) == (
        "## Sub-Agent Results\n\n### $x\n\nconcat of 1 result, partial"
    )


def test_nothing_to_fold_is_no_section() -> None:
    """No results, no heading."""
    nothings: tuple[Any, ...] = ((), [], {}, SubagentSession().subagent_results, [{}, {}])
    for nothing in nothings:
        assert segments(results=nothing) == ()


def test_an_answer_and_a_report_fold_in_the_same_way() -> None:
    """A chosen answer shows its source, a compiled report its sections."""
    answer = Answer(
        "28 activities",
        AnswerSource(3, AnswerKind.COUNT, "a counting goal"),
        True,
        ("step 2 failed",),
    )
    report = {"analysis_metadata": {"tools_executed": 1}, "security_analysis": {"bandit": "clean"}}
    assert text_of([answer, report]) == (
        "## Sub-Agent Results\n\n"
        "### Answer\n\nresult 3, count: a counting goal\n\n```text\n28 activities\n```\n\nWarnings:\n\n```text\nstep 2 failed\n```\n\n"
        "### Compiled Report\n\n```json\n{\n"
        '  "analysis_metadata": {\n    "tools_executed": 1\n  },\n'
        '  "security_analysis": {\n    "bandit": "clean"\n  }\n}\n```'
    )


def test_a_large_value_is_a_reference_with_its_summary(tmp_path: Path) -> None:
    """The prompt shows what it is and where the whole is; nothing is lost (D-42, D-45)."""
    outputs = [LabelledOutput({"name": f"run {i}", "km": i}, run_id=f"r{i}") for i in range(400)]
    result = merge_outputs(outputs, "concat")
    markdown = build_tier3_context(
        [], tmp_path, [], [], [], results={"$runs": result}, cache_dir=tmp_path / "cache"
    )
    assert "400 items with fields: name, km" in markdown
    assert 'Use executeDataAnalysis with: load_data_reference("results_' in markdown
    reference = markdown.partition('load_data_reference("')[2].partition('"')[0]
    assert load_data_reference(reference, cache_dir=tmp_path / "cache") == result.value
    whole = build_tier3_context(
        [], tmp_path, [], [], [], results=result, results_threshold=1_000_000
    )
    assert '"name": "run 399"' in whole


def test_results_stand_between_beads_and_discussion(tmp_path: Path) -> None:
    """In every prompt that ``run`` makes, also in a Tier 3 one (M-9)."""
    beads = '{"id":"b-1","title":"Do it","status":"open"}\n'
    project(
        tmp_path,
        {"a.py": "x = 1\n", ".beads/issues.jsonl": beads, "history.toml": 'history = ["hi"]'},
    )
    project(
        tmp_path,
        {"manual_slop.toml": '[project]\nexecution_mode = "beads"\n[files]\npaths = ["a.py"]\n'},
    )
    result = merge_outputs([LabelledOutput("done", run_id="r1")], "first")
    for tier in (None, 3):
        markdown, _, _ = run(tmp_path / "manual_slop.toml", results=[result], tier=tier)
        heads = [line for line in markdown.splitlines() if line.startswith("## ")]
        assert [head.split(" (")[0] for head in heads] == [
            "## Files",
            "## Beads Mode: Progress Track",
            "## Sub-Agent Results",
            "## Discussion History",
        ]


hostile = st.text(st.sampled_from("#`\n\r\t -=ab$*_~>1.\u2028"), max_size=30)


@given(
    name=hostile,
    value=hostile,
    errors=st.lists(hostile, max_size=2),
    warnings=st.lists(hostile, max_size=2),
)
def test_no_text_forges_a_heading(
    name: str, value: str, errors: list[str], warnings: list[str]
) -> None:
    """Names, values, errors and warnings cannot leave their place."""
    told = replace(result(f"${name}", value), errors=tuple(errors), warnings=tuple(warnings))
    assert headings(text_of([told]))[0] == "Sub-Agent Results"
    assert len(headings(text_of([told]))) == 2
