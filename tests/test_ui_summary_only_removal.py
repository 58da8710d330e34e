"""What the composed markdown takes from records."""

from aggregate import build_markdown_from_items


def test_aggregate_from_items_respects_auto_aggregate() -> None:
    """Records with auto_aggregate off are left out, under every strategy (M-40)."""
    items: list[dict[str, object]] = [
        {"path": "a.py", "content": "a = 1", "auto_aggregate": False},
        {"path": "b.py", "content": "b = 1", "auto_aggregate": True},
        {"path": "c.py", "content": "c = 1"},
    ]
    for strategy in ("auto", "full", "summarize"):
        markdown = build_markdown_from_items(items, ".", [], [], aggregation_strategy=strategy)
        assert [line for line in markdown.splitlines() if line.startswith("###")] == [
            "### File b.py",
            "### File c.py",
        ]
    assert build_markdown_from_items(items[:1], ".", [], []) == ""
