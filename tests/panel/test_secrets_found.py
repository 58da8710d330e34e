"""Which files are marked for a secret, as what may stay changes."""

from hashlib import sha256
from pathlib import Path

from tests.panel.opened import CONFIG, FILES, opened

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_that_is_allowed_since_is_none(tmp_path: Path) -> None:
    """A value that the configuration allows is no secret any more, and one that it allows no more is one again."""
    panel = opened(tmp_path, {**FILES, "src/key.py": f"TOKEN = '{TOKEN}'\n"})
    allowed = f"[redaction]\nallow = ['sha256:{sha256(TOKEN.encode()).hexdigest()}']\n"
    config = panel.folder / "manual_slop.toml"
    for text, expected in ((CONFIG, "secret"), (CONFIG + allowed, ""), (CONFIG, "secret")):
        config.write_text(text)
        panel.session.disk_changed([str(config.resolve())])
        panel.session.compose()
        assert panel.row("src/key.py")["state"] == expected


def test_a_file_whose_secret_is_gone_with_its_text_has_none(tmp_path: Path) -> None:
    """What was found in a file is forgotten with its text, as in one that is empty now."""
    panel = opened(tmp_path, {**FILES, "src/key.py": f"TOKEN = '{TOKEN}'\n"})
    assert panel.row("src/key.py")["state"] == "secret"
    key = panel.folder / "src/key.py"
    key.write_text("")
    panel.session.disk_changed([str(key.resolve())])
    panel.session.compose()
    assert panel.row("src/key.py")["state"] == ""
