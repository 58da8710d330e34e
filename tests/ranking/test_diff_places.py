"""A diff in a task: the places that it changes."""

import pytest

from aggregate.ranking.task_text import diff_places, named_places

DIFF = """\
Please review:

diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -10,5 +10,5 @@ def area():
     one
     two
-    three
+    four
@@ -40 +40,2 @@
+    five
diff --git a/b.py b/c.py
--- a/b.py
+++ b/c.py
@@ -1,2 +1 @@
-gone
"""


def test_each_hunk_is_the_line_that_it_first_changes() -> None:
    """Lines are those of the file before, below the context, and a renamed file has its old name (rule T-2)."""
    assert list(diff_places(DIFF)) == [("src/a.py", 12, ""), ("src/a.py", 40, ""), ("b.py", 1, "")]
    assert named_places(DIFF)[:3] == tuple(diff_places(DIFF))


@pytest.mark.parametrize(
    "text",
    ["", "@@ -1 +1 @@\n-a\n", "\n@@ -1 +1 @@\n-a\n", "--- a.py\n+++ a.py\n\n@@ what\n- a list\n"],
)
def test_what_is_no_diff_has_no_places(text: str) -> None:
    """A hunk without a file, and lines that only look like one, tell no place (rule T-5)."""
    assert not list(diff_places(text))


def test_a_new_file_has_the_name_that_it_gets() -> None:
    """There may be one of that name by now (rule T-2)."""
    text = "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+a\n"
    assert list(diff_places(text)) == [("new.py", 1, "")]
