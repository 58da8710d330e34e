"""Which files are marked for a secret, as what may stay changes."""

from hashlib import sha256
from pathlib import Path

from aggregate.panel.secrets_found import SecretFinder
from tests.panel.opened import CONFIG, FILES, opened


def test_a_secret_that_is_allowed_since_is_none(tmp_path: Path) -> None:
    """A value that the configuration allows is no secret any more, and one that it allows no more is one again."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    panel = opened(tmp_path, {**FILES, "src/key.py": f"TOKEN = '{token}'\n"})
    allowed = f"[redaction]\nallow = ['sha256:{sha256(token.encode()).hexdigest()}']\n"
    finder = SecretFinder()
    config = panel.folder / "manual_slop.toml"
    for text, expected in (
        (CONFIG, {"src/key.py"}),
        (CONFIG + allowed, set()),
        (CONFIG, {"src/key.py"}),
    ):
        config.write_text(text)
        panel.session.disk_changed([str(config.resolve())])
        composed = panel.session.compose_now()
        assert finder.search(composed, until=lambda: False)
        assert finder.paths(composed) == expected


def test_a_file_whose_secret_is_gone_with_its_text_has_none(tmp_path: Path) -> None:
    """What was found in a file is forgotten where nothing of it can be searched any more, as in an empty one."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    panel = opened(tmp_path, {**FILES, "src/key.py": f"TOKEN = '{token}'\n"})
    finder = SecretFinder()
    assert finder.search(panel.session.compose_now(), until=lambda: False)
    key = panel.folder / "src/key.py"
    key.write_text("")
    panel.session.disk_changed([str(key.resolve())])
    composed = panel.session.compose_now()
    assert finder.search(composed, until=lambda: False)
    assert finder.paths(composed) == frozenset()
