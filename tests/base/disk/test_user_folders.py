"""Where the program keeps what belongs to the user."""

import sys
from pathlib import Path
from typing import NoReturn

import pytest

from aggregate import load_config
from aggregate.base.disk import (
    CACHE_VARIABLE,
    STATE_VARIABLE,
    cache_folder,
    state_folder,
    user_state_folder,
)
from aggregate.project.configuration import Config, global_config_path, user_config
from aggregate.sending import ModelSelection, prepare_turn, send_turn
from tests.projects import project


@pytest.mark.skipif(sys.platform == "win32", reason="everybody has a home folder there")
def test_a_user_without_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container's may be: nothing is kept, nor read from the folder of the moment, and all else works (C-6)."""
    import pwd

    def nobody(_: int) -> NoReturn:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv(STATE_VARIABLE)
    monkeypatch.delenv(CACHE_VARIABLE)
    folder = project(tmp_path, {"manual_slop.toml": '[project]\nname = "demo"\n'})
    monkeypatch.chdir(folder)
    assert (cache_folder(), user_state_folder()) == (None, None)
    assert state_folder(folder).is_absolute()
    assert not global_config_path().is_relative_to(folder)
    assert user_config() == Config()
    config = load_config(folder / "manual_slop.toml")
    done = send_turn(prepare_turn(config, "Why?", ModelSelection("scripted")), config)
    assert done.warnings == (
        "the next request is planned as if this one had not been sent: "
        f"there is no home folder: set {STATE_VARIABLE}",
    )
