"""File items and presets as plain data."""

from hypothesis import given, strategies as st

from aggregate import ContextPreset, FileItem, ViewMode

values = {
    "auto_aggregate": st.booleans(),
    "force_full": st.booleans(),
    "view_mode": st.sampled_from([mode.value for mode in ViewMode]),
    "selected": st.booleans(),
    "ast_signatures": st.booleans(),
    "ast_definitions": st.booleans(),
    "ast_mask": st.dictionaries(
        st.text(min_size=1), st.sampled_from(["def", "sig", "hide"]), max_size=3
    ),
    "custom_slices": st.lists(
        st.fixed_dictionaries({"start_line": st.integers(1, 9), "end_line": st.integers(1, 9)}),
        max_size=2,
    ),
    "injected_at": st.none() | st.floats(0, 1e9),
}


@given(st.builds(FileItem, st.text(min_size=1), **values))
def test_round_trip(item: FileItem) -> None:
    """All ten fields survive ``to_dict`` and ``from_dict`` (M-40)."""
    assert len(item.to_dict()) == 10
    assert FileItem.from_dict(item.to_dict()) == item


def test_unknown_and_missing_keys_are_tolerated() -> None:
    """Old and new files load; ``None`` means the default (M-40, M-X10)."""
    item = FileItem.from_dict({"path": "a", "new_key": 1, "view_mode": None})
    assert item == FileItem("a")


def test_slices_get_tag_and_comment() -> None:
    """So that nobody has to ask whether they are there (M-40, M-41); the caller's slice is not touched."""
    mine = {"start_line": 1, "end_line": 2, "tag": "t"}
    assert FileItem("a", custom_slices=[mine]).custom_slices == [
        {"start_line": 1, "end_line": 2, "tag": "t", "comment": None}
    ]
    assert mine == {"start_line": 1, "end_line": 2, "tag": "t"}


def test_preset_promotes_strings() -> None:
    """A path is promoted to an item (M-43)."""
    preset = ContextPreset("p", ["a.py", {"path": "b.py", "view_mode": "none"}, FileItem("c.py")])  # type: ignore[list-item]
    assert preset.files == [FileItem("a.py"), FileItem("b.py", view_mode="none"), FileItem("c.py")]
