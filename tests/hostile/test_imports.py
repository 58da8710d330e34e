"""Files of a project that are called like modules: none of them is imported."""

import os
import subprocess
import sys
from pathlib import Path

OTHERS = "click pydantic rich tiktoken tomlkit tree_sitter typing_extensions"


def before_us(folder: Path) -> set[str]:
    """Return what Python imports itself before it runs any module with ``-m``: only its option ``-P`` helps there."""
    (folder / "probe.py").write_text("import sys; print(*sys.modules)", encoding="utf-8")
    return set(
        subprocess.check_output([sys.executable, "-m", "probe"], cwd=folder, text=True).split()
    )


def shadow_modules(folder: Path) -> Path:
    """Put a file into ``folder`` for each module that could be imported, which says so when it is; return the witness."""
    witness = folder / "imported"
    for name in {*sys.stdlib_module_names, *OTHERS.split()} - before_us(folder):
        (folder / f"{name}.py").write_text(
            f"open({str(witness)!r}, 'a').write('{name} ')\n", encoding="utf-8"
        )
    return witness


def test_no_module_of_the_project_is_imported(tmp_path: Path) -> None:
    """Neither the program nor its workers import from the current folder, also where it is started with ``-m``."""
    witness = shadow_modules(tmp_path)
    for number in range(2):  # which a worker parses
        (tmp_path / f"big{number}.py").write_text(f"def f{number}(): pass\n", encoding="utf-8")
    (tmp_path / "manual_slop.toml").write_text(
        '[files]\npaths = [{ path = "big*.py", view_mode = "outline" }]\n', encoding="utf-8"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "aggregate", "run", "-q", "--stdout"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "f1()" in ended.stdout
    assert not witness.exists(), witness.read_text()
