"""``run`` and ``prune``, as a user starts them: what they print and leave, where the time went, and how they end."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command_line import program_environment, start
from tests.projects import project

CONFIG = """
    [project]
    name = "demo"
    [files]
    paths = ["read.md", { path = "src/*.py", view_mode = "skeleton" }, "gone.py"]
    [discussion]
    history = ["Hello"]
    [context_presets.small]
    files = ["read.md"]
"""
SOURCE = "def area(r: float) -> float:\n    return 3 * r * r\n"
PROMPT = """\
## Files

### File read.md

```markdown
# Demo
```

### File src/area.py

```python
def area(r: float) -> float:
    ...
```

### File gone.py

```text
ERROR: file not found: gone.py
```

## Discussion History

### Discussion Excerpt 1

Hello
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project of two files, one missing file, one turn and one preset."""
    return project(
        tmp_path, {"manual_slop.toml": CONFIG, "read.md": "# Demo\n", "src/area.py": SOURCE}
    )


def test_a_run_prints_the_path_and_nothing_else(demo: Path) -> None:
    """Standard output is one line, the path; what happened is on standard error (M-1, M-14, M-15)."""
    first, second = start(demo, "run"), start(demo)
    assert (first.code, first.out) == (0, "md_gen/demo_001.md\n")
    assert (second.code, second.out) == (0, "md_gen/demo_002.md\n")
    assert "warning: file not found: gone.py" in first.err.splitlines()
    assert " tokens (o200k)\n" in first.err
    assert " in files\n" in first.err
    assert "Traceback" not in first.err
    assert (demo / "md_gen/demo_001.md").read_text(encoding="utf-8") == PROMPT
    assert (demo / "md_gen/demo_002.md").read_text(encoding="utf-8") == PROMPT


def test_standard_output_takes_the_prompt(demo: Path) -> None:
    """``--stdout`` prints the bytes of the prompt's file, and writes none (rules B-1 and M-14)."""
    ended = start(demo, "run", "--stdout", "--quiet")
    assert (ended.code, ended.out, ended.err) == (0, PROMPT, "")
    ended = start(demo, "run", "--stdout", "--quiet", "--budget", "32k")
    assert (ended.code, ended.out, ended.err) == (0, PROMPT, "")
    assert not (demo / "md_gen").exists()


def test_the_report_is_json_and_adds_up(demo: Path) -> None:
    """``--json`` prints one object: sections sum to the document, files to less than their section."""
    ended = start(demo, "run", "--json", "-q")
    report = json.loads(ended.out)
    tokens = report["tokens"]
    assert (ended.code, ended.err) == (0, "")
    assert report["path"] == "md_gen/demo_001.md"
    assert sum(tokens["sections"].values()) == tokens["document"]
    assert list(tokens["sections"]) == ["files", "history"]
    files = {file["path"]: file for file in report["files"]}
    assert list(files) == ["read.md", "src/area.py", "gone.py"]
    assert sum(file["tokens"] for file in files.values()) < tokens["sections"]["files"]
    assert files["src/area.py"]["entry"] == "src/*.py"
    assert files["src/area.py"]["view_mode"] == files["src/area.py"]["level"] == "skeleton"
    assert [files[path]["error"] for path in files] == [False, False, True]
    assert report["warnings"] == ["ERROR: file not found: gone.py"]


@pytest.mark.parametrize(
    ("options", "heading", "shown", "hidden"),
    [
        (["--strategy", "summarize"], "## Files (Summary)", "python, 2 lines", "### File none"),
        (["--strategy", "full", "--no-history"], "## Files", "def area", "Discussion"),
        (["--preset", "small"], "## Files", "# Demo", "area.py"),
        (["--focus", "src/area.py"], "## Files (Tier 3 - Focused)", "return 3 * r * r", "### File none"),
        (["--tier", "3"], "## Files (Tier 3 - Focused)", "    ...", "return 3"),
    ],
)  # fmt: skip
def test_options_decide_what_is_composed(
    demo: Path, options: list[str], heading: str, shown: str, hidden: str
) -> None:
    """Strategy, preset, focus, tier and history follow the command line (M-30, M-43, M-53, M-X6)."""
    ended = start(demo, "run", "--stdout", "-q", *options)
    assert ended.code == 0
    assert ended.out.splitlines()[0] == heading
    assert shown in ended.out
    assert hidden not in ended.out


def test_no_prompt_is_fed_to_another_configuration(tmp_path: Path) -> None:
    """What a task without a configuration, or another one elsewhere, has left is taken by no glob (rule T-6)."""
    folder = project(tmp_path, {"a.py": SOURCE, "md_gen/notes_001.md": "mine\n"})
    assert start(folder, "wait longer", "--budget", "4k", "-q").code == 0
    for name in ("one", "two"):
        config = f'[project]\nname = "{name}"\n[output]\noutput_dir = "{name}"\n[files]\npaths = ["**"]\nexclude = ["*.toml"]\n'
        (folder / f"{name}.toml").write_text(config, encoding="utf-8")
        ended = start(folder, "run", "--config", f"{name}.toml", "--json", "-q")
        assert [file["path"] for file in json.loads(ended.out)["files"]] == [
            "a.py",
            "md_gen/notes_001.md",
        ]


def test_a_reader_that_leaves_is_no_failure_to_report(demo: Path) -> None:
    """A closed standard output, as behind ``head``, ends the program without a word (M-X18)."""
    (demo / "read.md").write_text("a line of text\n" * 50_000, encoding="utf-8")
    for arguments in (["run", "--stdout", "-q"], ["languages"]):
        program = subprocess.Popen(
            [sys.executable, "-m", "aggregate", *arguments],
            cwd=demo,
            env=program_environment(demo),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert program.stdout is not None
        program.stdout.close()
        _, err = program.communicate(timeout=60)
        assert err == b""


def test_pruning_keeps_the_newest(demo: Path) -> None:
    """``prune --keep N`` deletes the lowest numbers of this namespace and prints them, nothing else."""
    names = ["demo_001.md", "demo_2.md", "demo_1000.md", "other_001.md", "demo_x.md"]
    project(demo, {f"md_gen/{name}": "x" for name in names})
    ended = start(demo, "prune", "--keep", "1")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == ["md_gen/demo_001.md", "md_gen/demo_2.md"]
    assert {path.name for path in (demo / "md_gen").iterdir()} == {
        "demo_1000.md",
        "other_001.md",
        "demo_x.md",
    }


def test_many_files_of_one_fault_are_one_warning(tmp_path: Path) -> None:
    """A person reads one sentence with their number, a program all of them."""
    names = ", ".join(f'"gone{number}.py"' for number in range(50))
    (tmp_path / "manual_slop.toml").write_text(f"[files]\npaths = [{names}]\n", encoding="utf-8")
    said = start(tmp_path, "run").err
    assert said.count("warning: ") == 1
    assert (
        "warning: file not found: gone0.py; and 49 more of this kind (--json lists them)\n" in said
    )
    assert len(json.loads(start(tmp_path, "run", "--json", "--quiet").out)["warnings"]) == 50


WRITING = """
import signal, sys, time
from pathlib import Path
from aggregate.cli.output import orderly_termination
from aggregate.prompt.output.numbered_output import write_numbered
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore it
def pieces():
    yield b"begun"
    print("writing", flush=True)
    time.sleep(60)
with orderly_termination():
    write_numbered(Path(sys.argv[1]), "demo", pieces())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has other signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_prompt_half_written_is_removed(number: int, tmp_path: Path) -> None:
    """At SIGTERM and SIGHUP no temporary file stays in the output folder, no number is taken, and nothing is said."""
    command = [sys.executable, "-c", WRITING, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        assert process.stdout.readline() == b"writing\n"
        assert len([*tmp_path.iterdir()]) == 1
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, b"")
    assert [*tmp_path.iterdir()] == []
