"""The account of a prompt that is sent."""

from dataclasses import replace
from pathlib import Path

from aggregate import load_config
from aggregate.prompt import audit_path
from aggregate.prompt.audit import read_audit
from aggregate.sending import ModelSelection, prepare_turn, send_turn
from aggregate.sending.clients.client import scripted_client
from tests.projects import project

CONFIG = '[project]\nname = "demo"\n[files]\npaths = ["*.py"]\n'
CODE = "".join(f"def name_{n}(value):\n    return value + {n}\n\n\n" for n in range(40))


def sent(folder: Path, message: str, budget: int | None) -> Path:
    """Send a message and return the prompt's file."""
    config = load_config(folder / "manual_slop.toml")
    made = prepare_turn(config, message, ModelSelection(provider="scripted", budget=budget))
    made = replace(made, client=scripted_client(["Yes."]))
    return send_turn(made, config).path


def test_a_send_with_a_budget_leaves_an_account(tmp_path: Path) -> None:
    """Its prompt is told line by line and token by token, also where older versions of files are sent again (A-1, L-1)."""
    folder = project(tmp_path, {"manual_slop.toml": CONFIG, "a.py": CODE, "b.py": "X = 1\n"})
    assert not audit_path(sent(folder, "why name_3?", None)).exists()
    for message in ("why name_3?", "and name_4?"):
        prompt = sent(folder, message, 6_000)
        audit = read_audit(prompt)
        assert audit is not None
        assert audit.task.text == message
        assert audit.source_map is not None
        text = prompt.read_text(encoding="utf-8")
        assert audit.size == len(text.encode())
        files = sum(audit.sections.get(name, 0) for name in ("files", "changed"))  # type: ignore[call-overload]
        assert sum(row.tokens for row in audit.rows) + audit.generated == files
        lines = text.split("\n")
        assert audit.source_map.lines == len(lines)
        for line, origin in zip(lines, audit.source_map.origins(), strict=True):
            if origin.is_verbatim:
                source = (folder / origin.source).read_text(encoding="utf-8").split("\n")
                assert source[origin.first - 1] == line
        with (folder / "a.py").open("a", encoding="utf-8") as file:
            file.write("Y = 2\n")
