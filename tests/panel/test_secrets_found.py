"""Marks of files with secrets, as allowed values change."""

from hashlib import sha256
from pathlib import Path

from tests.panel.opened import CONFIG, FILES, opened

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_that_is_allowed_since_is_none(tmp_path: Path) -> None:
    """A mark goes when the value is allowed, returns when not, and goes with the text."""
    panel = opened(tmp_path, {**FILES, "src/key.py": f"TOKEN = '{TOKEN}'\n"})
    allowed = f"[redaction]\nallow = ['sha256:{sha256(TOKEN.encode()).hexdigest()}']\n"
    for text, expected in ((CONFIG, "secret"), (CONFIG + allowed, ""), (CONFIG, "secret")):
        panel.change("manual_slop.toml", text)
        assert panel.row("src/key.py")["state"] == expected
    panel.change("src/key.py", "")
    assert panel.row("src/key.py")["state"] == ""
