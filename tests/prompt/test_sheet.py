"""The sheet of a second look: what stands in it, what an answer picks of it, and what that changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aggregate import Budget, Task, count, request_for
from aggregate.base import Pick
from aggregate.project.index import open_index
from aggregate.prompt import Composition, compose_prompt
from aggregate.prompt.asking import Request, open_project
from aggregate.prompt.corpus import Sheet, make_sheet, rank_files, read_answer, with_answer
from tests.fakes.topics import TOPICS, module_about
from tests.projects import project

WORDS = "What does the upper part of the lantern do?"
KEY = "ghp_" + "a1B2" * 9
OTHERS = {
    "src/decorated.py": f"""\
        @register("lantern", token="{KEY}")
        def lantern_key(
            token="{KEY}",
        ):
            return token
    """,
    "src/hidden.py": "def lantern_hidden():\n    return 1\n",
}
CONFIG = """
    [files]
    paths = ["src/*.py", { path = "src/hidden.py", view_mode = "none" }]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {f"src/{topic}.py": module_about(topic) for topic in TOPICS}
    return project(tmp_path, {"manual_slop.toml": CONFIG} | files | OTHERS)


def asked(folder: Path, *, budget: int = 3_000) -> Request:
    loaded = open_project(folder / "manual_slop.toml")
    return request_for(loaded, task=Task(WORDS), budget=Budget(budget))


def sheet_of(folder: Path, *, most: int = 6_000) -> Sheet:
    ranked = rank_files(asked(folder), index=open_index(use=False))
    return make_sheet(ranked, count, most=most)


def composed(folder: Path, *picks: Pick) -> Composition:
    request = asked(folder)
    task = replace(request.task or Task(), picks=picks)
    return compose_prompt(replace(request, task=task), index=open_index(use=False))


def test_the_likeliest_files_stand_with_signatures(folder: Path) -> None:
    """Files are numbered by their scores, definitions stand in the file's order with their signature (rule T-10)."""
    sheet = sheet_of(folder)
    assert sheet.text.startswith("1. src/lantern.py\n   def lantern_upper(value):\n")
    assert len(sheet.names) == len(TOPICS) + 1
    assert next(iter(sheet.names)) == "src/lantern.py"
    assert "lantern_upper" in sheet.names["src/lantern.py"]


def test_secrets_and_what_is_left_out_are_not_shown(folder: Path) -> None:
    """Secrets are replaced, decorators left out, and a file that the configuration hides is none (rule T-10)."""
    text = sheet_of(folder).text
    assert "def lantern_key( token=" in text
    assert KEY not in text
    assert "register" not in text
    assert "hidden" not in text


@pytest.mark.parametrize("most", [0, 10, 60, 150, 400, 1_500])
def test_a_sheet_keeps_to_its_tokens(folder: Path, most: int) -> None:
    """Less room shows fewer definitions of each file, then fewer files, and never more tokens (rule T-10)."""
    sheet, larger = sheet_of(folder, most=most), sheet_of(folder, most=most + 200)
    assert count(sheet.text) <= most
    assert list(sheet.names) == list(larger.names)[: len(sheet.names)]
    for path, names in sheet.names.items():
        assert set(names) <= set(larger.names[path])


SHEET = Sheet("", {"a.py": ("f", "C", "C.run"), "b.py": ("run", "D.run")}, ())


@pytest.mark.parametrize(
    ("answer", "picks"),
    [
        (
            'I think: {"files": [{"file": 2, "confidence": 0.5, "why": "it\\n runs"}]}.',
            (Pick("b.py", "", 0.5, "it runs"),),
        ),
        (
            '{"files": [], "definitions": ["1 run", "2 D.run", "2 run", "9 f", "f"]}',
            (Pick("a.py", "C.run"), Pick("b.py", "D.run"), Pick("b.py", "run")),
        ),
        (
            '{"files": [{"file": "1", "confidence": 7}, {"file": 2, "confidence": NaN}, {"file": 3, "confidence": 1}]}',
            (Pick("a.py", "", 1.0), Pick("b.py", "", 0.0)),
        ),
        ('{"files": [{"file": 7, "confidence": 1}], "definitions": ["nothing"]}', ()),
        ('{"files": "all", "definitions": []}', ()),
        ('{"definitions": ["1 f"]}', ()),
        ('{"files": [1]}', ()),
        ("[]", ()),
        ("{" * 10_000 + "}" * 10_000, ()),
        ("No model was asked.", ()),
        ("", ()),
    ],
)
def test_an_answer_picks_what_the_sheet_names(answer: str, picks: tuple[Pick, ...]) -> None:
    """Numbers and names of the sheet are picked, all else is passed over, and no answer is an error (rule T-10)."""
    assert read_answer(SHEET, answer).picks == picks


def test_at_most_five_files_and_eight_definitions_are_picked() -> None:
    """The first of more count (rule T-10)."""
    names = {f"{number}.py": tuple(f"f{each}" for each in range(9)) for number in range(9)}
    files = [{"file": number, "confidence": 1} for number in range(1, 10)]
    answer = {"files": files, "definitions": [f"1 f{each}" for each in range(9)]}
    picks = read_answer(Sheet("", names, ()), json.dumps(answer)).picks
    assert [pick.path for pick in picks if not pick.definition] == [f"{n}.py" for n in range(5)]
    assert len(picks) == 5 + 8


def test_forty_files_stand_with_five_definitions_each(tmp_path: Path) -> None:
    """A sheet has up to 40 files and five definitions of each (rule T-10)."""
    text = "".join(f"def lantern_{n}(value):\n    return {n}\n\n\n" for n in range(7))
    files = {f"src/lantern_{n}.py": text for n in range(43)}
    sheet = sheet_of(project(tmp_path, {"manual_slop.toml": CONFIG} | files))
    assert len(sheet.names) == 40
    assert {len(names) for names in sheet.names.values()} == {5}
    assert count(sheet.text) <= 6_000


def test_an_answer_may_expect_names_that_the_sheet_lacks(folder: Path) -> None:
    """Unseen files and definitions are weaker picks, words of the project join the task's, others are ignored (T-10)."""
    ranked = rank_files(asked(folder), index=open_index(use=False))
    sheet = make_sheet(ranked, count, most=40)
    other = next(topic for topic in TOPICS if f"src/{topic}.py" not in sheet.names)
    expected = [
        f"src/{other}.py",
        f"{other}_upper()",
        "step makes",
        "src/gone.py",
        "unheard_of",
        "",
    ]
    answer = read_answer(sheet, json.dumps({"files": [], "expected": expected}))
    task = with_answer(Task(WORDS), answer, ranked)
    assert task.picks == (
        Pick(f"src/{other}.py", "", 0.4, "expected"),
        Pick(f"src/{other}.py", f"{other}_upper", 0.4),
    )
    assert task.expected == ("step makes",)
    assert task.text == WORDS


def test_picks_are_evidence_and_pin_nothing(folder: Path) -> None:
    """What is picked, by its confidence, goes before what is not; nothing has to be shown for it (rule T-10)."""
    other = next(topic for topic in TOPICS if topic != "lantern")
    path = f"src/{other}.py"
    plain = composed(folder)
    sure = composed(folder, Pick(path, "", 1.0, "holds it"), Pick(path, f"{other}_upper"))
    unsure = composed(folder, Pick(path, "", 0.1))
    ranks = [
        next(choice for choice in made.choices if choice.path == path)
        for made in (plain, unsure, sure)
    ]
    scores = [choice.score or 0.0 for choice in ranks]
    assert scores == sorted(scores)
    assert scores[2] > 5 * scores[0]
    assert f"def {other}_upper(value):" in sure.prompt.markdown
    reasons = {reason.kind: reason for reason in ranks[2].reasons}
    assert (reasons["picked"].weight, reasons["picked"].matched) == (3.0, "holds it")
    assert reasons["picked definition"].matched == f"{other}_upper"
    assert not any(choice.pinned for choice in sure.choices)
    assert composed(folder, Pick("gone.py")).prompt.markdown == plain.prompt.markdown


def test_a_pick_leaves_other_likely_files_their_signatures(folder: Path) -> None:
    """Which files are unlikely follows from their scores before a pick: none that was shown disappears (rule B-6)."""
    plain = shown_paths(composed(folder))
    sure = shown_paths(
        composed(folder, Pick("src/lantern.py"), Pick("src/lantern.py", "lantern_upper"))
    )
    assert len(sure) > 3
    assert plain <= sure


def shown_paths(composition: Composition) -> set[str]:
    return {choice.path for choice in composition.choices if choice.tokens}
