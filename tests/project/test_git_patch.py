"""Patches as git prints them, and what is read of them."""

from aggregate.project.git.git_patch import Hunk, read_hunks

PATCH = b"""\
\x000123456789abcdef

diff --git a/a.py b/a.py
index 4023191..5d083fd 100644
--- a/a.py
+++ b/a.py
@@ -4 +4,2 @@ def f(self):
-@@ -1 +1 @@ forged
+--- a/forged
++++ b/forged
@@ -13,2 +14,0 @@
-diff --git a/x b/x
-\x00forged
\\ No newline at end of file
diff --git a/new b c.py b/new b c.py
new file mode 100644
index 0000000..809f14c
--- /dev/null
+++ b/new b c.py\t
@@ -0,0 +1 @@
+x
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git "a/\\303\\274\\n\\"q.py" "b/\\303\\274\\n\\"q.py"
index 1..2 100644
--- "a/\\303\\274\\n\\"q.py"
+++ "b/\\303\\274\\n\\"q.py"
@@ -1 +1 @@
-x
+y
diff --git a/a and b.bin b/a and b.bin
index 1..2 100644
Binary files a/a and b.bin and b/a and b.bin differ
diff --git a/new.bin b/new.bin
new file mode 100644
Binary files /dev/null and b/new.bin differ
diff --git a/old.bin b/old.bin
deleted file mode 100644
Binary files a/old.bin and /dev/null differ
"""


def test_a_patch_with_all_kinds_of_changes() -> None:
    """Lines of files pass for none of git's own; new files and binary ones have no lines, gone ones are left out (T-2)."""
    assert list(read_hunks(PATCH)) == [
        Hunk(commit="0123456789abcdef"),
        Hunk("", "a.py", 4, 5, "def f(self):"),
        Hunk("", "a.py", 14, 14),
        Hunk("", "new b c.py"),
        Hunk("", 'ü\n"q.py', 1, 1),
        Hunk("", "a and b.bin"),
        Hunk("", "new.bin"),
    ]


def test_a_patch_that_was_cut_anywhere() -> None:
    """Whatever is left of a patch is read without error, and tells the first of what the whole tells (rule T-5)."""
    whole = list(read_hunks(PATCH))
    for end in range(len(PATCH)):
        told = list(read_hunks(PATCH[:end]))
        assert told[:-1] == whole[: max(len(told) - 1, 0)]
