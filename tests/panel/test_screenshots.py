"""Adding screenshots from the page."""

import base64
from pathlib import Path

import pytest

from tests.fakes.images import png
from tests.panel.opened import Opened, opened


def _added(panel: Opened, data: bytes, name: str = "") -> str:
    answer = panel.post("screenshot", data=base64.b64encode(data).decode(), name=name)
    panel.session.compose()
    return str(answer.get("path") or answer["error"])


def test_a_new_screenshot_is_shown(tmp_path: Path) -> None:
    """A new screenshot has a free name and is in the prompt until undone (M-51)."""
    panel = opened(tmp_path)
    assert _added(panel, png(4, 4), "My Shot (1).PNG") == "screenshots/my-shot-1.png"
    assert _added(panel, png(5, 5), "my shot 1.jpeg") == "screenshots/my-shot-1-2.png"
    assert (tmp_path / "screenshots/my-shot-1.png").read_bytes() == png(4, 4)
    assert "(screenshots/my-shot-1.png)" in panel.markdown
    images = panel.get("state")["screenshots"]
    assert panel.client.get(images[1]["url"]).content == png(5, 5)
    panel.post("undo")
    panel.session.compose()
    assert "my-shot-1-2" not in panel.markdown


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"<svg onload=alert(1)>", "not a PNG, JPEG, GIF or WebP"),
        (b"", "not a PNG"),
        (png(4, 4, padding=10_000_000), "make it smaller"),
    ],
)
def test_what_is_no_image_is_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    """The type is checked by content; nothing is written (E-7)."""
    panel = opened(tmp_path)
    assert problem in _added(panel, data, "a.png")
    assert not (tmp_path / "screenshots").exists()


@pytest.mark.parametrize(
    "name", ["../../x.png", "..\\..\\x.png", "/etc/x.png", "x", ".x", "x\0.png", "x" * 500]
)
def test_no_name_leads_elsewhere(tmp_path: Path, name: str) -> None:
    """A name is stripped of path syntax."""
    panel = opened(tmp_path / "project")
    path = _added(panel, png(4, 4), name)
    assert path.startswith("screenshots/x")
    assert [file.name for file in tmp_path.iterdir()] == ["project"]


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    """Nothing is written if the folder of screenshots is outside the project."""
    (tmp_path / "project").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project/screenshots").symlink_to(tmp_path / "elsewhere")
    panel = opened(tmp_path / "project")
    assert "leads out of the project" in _added(panel, png(4, 4))
    assert not [*(tmp_path / "elsewhere").iterdir()]
