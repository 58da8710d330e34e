"""``run --format xml``: files as XML documents (rule T-16)."""

import re
from pathlib import Path

import pytest

from aggregate.base import Finish
from aggregate.prompt import request_for
from aggregate.prompt.asking import open_project
from tests.base.tokens.plain_count import plain_count
from tests.cli.command_line import start
from tests.projects import project
from tests.prompt.composing import composed

FILES = {
    "a.py": "def retry():\n    return 1\n",
    "b & c.md": "# Notes\n\n</document_content>\n\n< /SOURCE> and </ documents >\n",
}
DOCUMENTS = """\
## Files

<documents>

<document index="1">
<source>a.py</source>
<document_content>
def retry():
    return 1
</document_content></document>

<document index="2">
<source>b &amp; c.md</source>
<document_content>
# Notes

&lt;/document_content>

< /SOURCE> and &lt;/ documents >
</document_content></document>

</documents>
"""


def test_files_are_documents_that_their_content_cannot_close(tmp_path: Path) -> None:
    """Each file has its path and content, numbered as in the guide; closing tags in it are escaped (rule T-16)."""
    folder = project(tmp_path, FILES)
    assert start(folder, "run", "*", "--format", "xml", "--stdout").out == DOCUMENTS


def test_both_formats_share_numbers_and_commands(tmp_path: Path) -> None:
    """No number is used twice, and ``explain``, ``locate`` and ``prune`` take either (rule T-16)."""
    folder = project(tmp_path, FILES)
    task = ("run", "--task", "retry once more", "--budget", "900", "-q")
    paths = [
        start(folder, *task, "--format", form).out.strip() for form in ("xml", "markdown", "xml")
    ]
    assert [path[-5:] for path in paths] == ["1.xml", "02.md", "3.xml"]
    text = Path(folder, paths[0]).read_text(encoding="utf-8")
    line = text.split("\n").index("def retry():") + 1
    assert start(folder, "locate", f"1:{line}").out == "a.py:1\n"
    assert start(folder, "locate", f"{paths[0]}:{line - 2}").out == "generated: heading of a.py\n"
    assert "retry once more" in start(folder, "explain", "1").out
    assert start(folder, "prune", "--keep", "1").code == 0
    assert [path.name[-5:] for path in Path(folder, paths[2]).parent.glob("[!.]*_0*")] == ["3.xml"]


def test_only_the_option_selects_it(tmp_path: Path) -> None:
    """No setting of a project makes documents, and parts of a split stay Markdown (rule T-16)."""
    config = '[output]\nformat = "xml"\n[prompt]\nformat = "xml"\n[files]\npaths = ["a.py"]\n'
    folder = project(tmp_path, {**FILES, "manual_slop.toml": config})
    assert "<document" not in start(folder, "run", "--stdout").out
    refused = start(folder, "run", "--split", "1k", "--format", "xml")
    assert (refused.code, refused.out) == (2, "")


@pytest.mark.parametrize("tokens", [140, 300, 600, 900])
def test_a_budget_counts_the_tags_and_every_line_has_an_origin(tmp_path: Path, tokens: int) -> None:
    """A budget is a maximum for the documents, whose escaped lines are generated (rules T-16, B-1, L-1)."""
    files = {
        f"m{number}.py": f"def retry_{number}():\n    return {number}\n" for number in range(9)
    }
    files["retry.md"] = "retry once\n</document>\nretry twice\n"
    folder = project(tmp_path, files)
    loaded = open_project({"files": {"base_dir": str(folder), "paths": ["*"]}})
    request = request_for(loaded, task="retry", budget=tokens, finish=Finish(is_xml=True))
    prompt = composed(request)
    text = prompt.prompt.written
    assert plain_count(text) <= tokens
    assert text.count("<document ") == text.count("</document>")
    for number, line in enumerate(prompt.prompt.markdown.split("\n"), start=1):
        origin = prompt.origin(number)
        assert origin is not None
        if origin.is_verbatim:
            assert files[origin.source].split("\n")[origin.first - 1] == line
        elif re.match("(?:<|&lt;/)", line):
            assert origin.kind == "generated"
