"""The panel of most tests."""

from pathlib import Path

import pytest

from tests.panel.opened import Opened, opened


@pytest.fixture
def panel(tmp_path: Path) -> Opened:
    """A panel of the small project."""
    return opened(tmp_path)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip browser tests unless selected: their driver is slow to load."""
    is_left_out = "not browser" in config.option.markexpr
    return True if is_left_out and collection_path.name == "browser" else None
