"""From entries to rendered files: which text a prompt shows."""

import json
from pathlib import Path

from aggregate import FileItem, build_file_items, build_tier3_context


def test_a_notebook_is_shown_by_its_cells(tmp_path: Path) -> None:
    """Of a notebook in full the outputs are left out; forced to full, or in focus, it is raw (M-31, M-40, M-53)."""
    outputs = [{"output_type": "display_data", "data": {"image/png": "AAAA" * 100}}]
    cells = [{"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": outputs}]
    text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    (tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    [shown] = build_file_items(tmp_path, ["a.ipynb"])
    [forced] = build_file_items(tmp_path, [FileItem("a.ipynb", force_full=True)])
    assert shown["content"] == "# %% 1 output left out, 460 bytes\na = 1\na\n"
    assert shown["language"] == "python"
    assert forced["content"] == text
    focused = build_tier3_context([shown], tmp_path, [], [], ["a.ipynb"])
    assert text in focused
