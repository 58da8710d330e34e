"""The account of a prompt."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from aggregate import (
    Budget,
    Composition,
    FileChoice,
    Place,
    Task,
    compose_prompt,
    open_project,
    request_for,
)
from aggregate.base import FileOrder, Level, Missing, Reason
from aggregate.prompt import count_prompt
from aggregate.prompt.asking import Request
from aggregate.prompt.audit import (
    Audit,
    audit_of,
    audit_schema,
    newest_audited,
    read_audit,
    write_audit,
)
from aggregate.prompt.document import Cut, Section
from aggregate.prompt.output import audit_path, prune_outputs, write_numbered
from tests.base.redaction.samples import PLANTED
from tests.projects import project
from tests.prompt.composing import kept_nothing

TASK = Task("fix f in a.py", (Place("a.py", 2, 3),), ("C.f",), "HEAD~1")
BUDGET = Budget(8_000, order=FileOrder.EDGES)
FILES = {"a.py": "def f():\n    return 1\n", "b.py": "X = 1\n", "c\n.py": "Y = 1\n"}
CHOICES = (
    FileChoice(
        "a.py",
        "*.py",
        Level.FULL,
        Level.FULL,
        pinned=True,
        score=0.9000000001,
        rank=1,
        reasons=(Reason("named in the task", 1.25, "a.py"), Reason("definition text", 0.5, "f")),
        definitions=("f",),
        content_hash="00" * 32,
        size=9,
    ),
    FileChoice("b.py", "*.py", Level.FULL, Level.FULL, score=0.1, rank=2, next=Level.FULL),
    FileChoice("gone.py", "gone.py", Level.LEFT_OUT, Level.FULL, score=0.0, rank=3),
)
CUT = (Cut("history", "turns 1 to 2", 300, "its share is full"),)
MISSING = (Missing("history", "there is no git repository"),)


def made(folder: Path, **fields: Any) -> tuple[Request, Composition]:
    files = {"base_dir": str(folder), "paths": ["*.py"]}
    discussion = {"history": ["User: hello"]}
    config = {"project": {"name": "demo"}, "files": files, "discussion": discussion}
    request = request_for(open_project(config))
    composition = compose_prompt(request, index=kept_nothing())
    request = replace(request, **{"task": TASK, "budget": BUDGET, **fields})
    return request, replace(composition, choices=CHOICES, cut=CUT, missing=MISSING)


def audited(folder: Path, **fields: Any) -> Audit:
    request, composition = made(folder, **fields)
    tokens = count_prompt(composition.prompt, index=kept_nothing())
    size = len(composition.prompt.markdown.encode())
    return audit_of(request, composition, tokens, size=size, source_map=composition.source_map)


def test_the_parts_add_up(tmp_path: Path) -> None:
    """Tokens of the rows, of what is generated and of the other sections are those of the prompt (rule A-2)."""
    audit = audited(project(tmp_path, FILES))
    others = sum(tokens for section, tokens in audit.sections.items() if section != Section.FILES)
    rows = sum(row.tokens for row in audit.rows)
    assert rows + audit.generated + others == audit.tokens
    assert [bool(row.tokens) for row in audit.rows] == [True, True, False]
    assert audit.generated > 0
    assert others > 0


def test_an_audit_survives_its_file(tmp_path: Path) -> None:
    """What is written beside a prompt is read again, rounded to six digits, whatever the paths hold (rule A-1)."""
    audit = audited(project(tmp_path / "p", FILES))
    prompt = write_numbered(tmp_path / "out", "demo", "x")
    write_audit(prompt, audit)
    assert audit_path(prompt).name == ".demo_001.audit.json"
    assert audit_path(prompt).stat().st_mode & 0o777 == 0o600
    back = read_audit(prompt)
    assert back is not None
    assert back.rows[0].score == 0.9
    assert replace(back, source_map=None) == replace(audit, source_map=None)
    assert back.source_map is not None
    assert audit.source_map is not None
    assert [*back.source_map.runs] == [*audit.source_map.runs]
    assert audit_text(back) == audit_text(audit)
    assert audit_text(audit).isascii()


@pytest.mark.parametrize("count", [0, 1, 1_000, 1_001, 2_500])
def test_accounts_of_many_files_are_one_text(count: int, tmp_path: Path) -> None:
    """However many rows there are, each is a line, also where one piece of the text follows another (rule A-1)."""
    row = FileChoice("a.py", "*", Level.NAME, Level.FULL, score=0.5, rank=7, size=3)
    rows = tuple(row._replace(path=f"{number}.py") for number in range(count))
    request, composition = made(tmp_path)
    audit = audit_of(request, composition, count_prompt(composition.prompt))
    audit = replace(audit, rows=rows)
    written = json.loads(audit_text(audit))
    assert [row["path"] for row in written["rows"]] == [row.path for row in rows]
    assert audit_text(audit).splitlines()[-1] == "]}"
    back = parsed(audit_text(audit))
    assert back is not None
    assert back.rows == rows


def audit_text(audit: Audit) -> str:
    with TemporaryDirectory() as folder:
        write_audit(Path(folder) / "demo_001.md", audit)
        return audit_path(Path(folder) / "demo_001.md").read_text(encoding="ascii")


def parsed(text: str) -> Audit | None:
    with TemporaryDirectory() as folder:
        audit_path(Path(folder) / "demo_001.md").write_text(text, encoding="utf-8")
        return read_audit(Path(folder) / "demo_001.md")


KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str, "boolean": bool, "null": type(None), "array": list, "object": dict, "integer": int, "number": (int, float),
}  # fmt: skip


def violations(value: object, schema: dict[str, Any], place: str = "") -> list[str]:
    """Return where a value is not as a schema of ours says; it knows the words that ours uses."""
    if "anyOf" in schema:
        found = [violations(value, option, place) for option in schema["anyOf"]]
        return [] if not all(found) else found[-1]
    if "const" in schema or "enum" in schema:
        return [] if value in schema.get("enum", [schema.get("const")]) else [place]
    if not isinstance(value, KINDS[schema["type"]]):
        return [place]
    if isinstance(value, list):
        return [one for item in value for one in violations(item, schema["items"], f"{place}[]")]
    if isinstance(value, int | float):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        return [] if low <= value <= high else [place]
    if not isinstance(value, dict):
        return []
    missing = [key for key in schema.get("required", ()) if key not in value]
    problems = [f"{place}.{key} is missing" for key in missing]
    for key, item in value.items():
        described = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
        if not described or key not in schema.get("propertyNames", {}).get("enum", [key]):
            problems.append(f"{place}.{key} is not described")
        else:
            problems += violations(item, described, f"{place}.{key}")
    return problems


def test_the_schema_describes_an_audit(tmp_path: Path) -> None:
    """An audit is as its published schema says, with and without a map and a budget; other data is not (rule A-1)."""
    audit = audited(project(tmp_path, FILES))
    data = json.loads(audit_text(audit))
    assert violations(data, audit_schema()) == []
    assert violations(json.loads(audit_text(replace(audit, budget=None))), audit_schema()) == []
    assert violations({**data, "more": 1}, audit_schema()) == [".more is not described"]
    del data["rows"][0]["score"]
    data["rows"][1]["level"] = "all"
    assert violations(data, audit_schema()) == [".rows[].score is missing", ".rows[].level"]


def test_secrets_are_replaced(tmp_path: Path) -> None:
    """No text in the audit holds a secret: none of the task's words, no path, name or reason (rule A-1)."""
    sample = PLANTED[0]
    secret, other = sample.value, PLANTED[3].value
    files = {
        f"{secret}.py": "X = 1\n",
        f"{other}.py": "Y = 1\n",
        "a.py": f"def f():\n    return {secret}\n",
    }
    config = {"files": {"base_dir": str(project(tmp_path, files)), "paths": ["*.py"]}}
    words = f"why\n{sample.content}\nfails in f"
    task = Task(words, focus=(Place(f"{secret}.py"),), symbols=(sample.content, secret))
    index = kept_nothing()
    request = request_for(open_project(config), task=task, budget=8_000, redact=False)
    composition = compose_prompt(request, index=index)
    left = audit_of(request, composition, count_prompt(composition.prompt, index=index))
    assert secret in audit_text(left)
    request = request_for(open_project(config), task=task, budget=8_000)
    composition = compose_prompt(request, index=index)
    tokens = count_prompt(composition.prompt, index=index)
    clean = audit_of(request, composition, tokens, source_map=composition.source_map)
    text = audit_text(clean)
    assert (secret in text, other in text) == (False, False)
    markdown = composition.prompt.markdown
    assert (secret in markdown, other in markdown) == (False, False)
    assert clean.task.text.startswith("why\n")
    assert clean.task.text.endswith("\nfails in f")
    assert {row.path for row in clean.rows} == {
        "[REDACTED].py",
        "[REDACTED:github-token].py",
        "a.py",
    }
    assert clean.rows[0].pinned
    assert clean.source_map is not None
    assert clean.source_map.find("a.py", 2) == composition.find("a.py", 2) is not None
    back = parsed(text)
    assert back is not None
    assert back.rows == tuple(row._replace(lines=()) for row in clean.rows)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"version":1}', "null",
        "[" * 100_000,
        '{"version":2,"rows":[1]}', '{"version":2,"rows":{},"seeds":3}',
    ],
)  # fmt: skip
def test_a_damaged_audit_is_none(text: str, tmp_path: Path) -> None:
    """What is no audit of ours is as if there were none: no traceback, no wrong answer (rule A-1)."""
    prompt = write_numbered(tmp_path, "demo", "x")
    audit_path(prompt).write_text(text, encoding="utf-8")
    assert read_audit(prompt) is None
    assert newest_audited(tmp_path, "demo") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tokens", "many"),
        ("sections", {"odd": 1}),
        ("budget", {"tokens": 3}),
        ("source_map", {"sources": [], "runs": "x"}),
        ("rows", None),
    ],
)
def test_an_audit_with_odd_values_is_refused(key: str, value: object, tmp_path: Path) -> None:
    """With values that none of ours has it is none, and no error (rule A-1)."""
    data = json.loads(audit_text(audited(project(tmp_path, FILES))))
    assert parsed(json.dumps(data)) is not None
    assert parsed(json.dumps({**data, key: value})) is None


def test_prune_deletes_audits(tmp_path: Path) -> None:
    """With a prompt goes its audit (rule A-1)."""
    audit = audited(project(tmp_path / "p", FILES))
    first, second = (write_numbered(tmp_path / "out", "demo", "x") for _ in range(2))
    write_audit(first, audit)
    write_audit(second, audit)
    assert prune_outputs(tmp_path / "out", "demo", keep=1) == [first]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        ".demo_002.audit.json",
        ".gitignore",
        "demo_002.md",
    ]
