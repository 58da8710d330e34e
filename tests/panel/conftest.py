"""The panel that most tests ask."""

from pathlib import Path

import pytest

from tests.panel.opened import Opened, opened


@pytest.fixture
def panel(tmp_path: Path) -> Opened:
    """A panel of the small project."""
    return opened(tmp_path)
