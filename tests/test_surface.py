"""The public surface."""

import subprocess
import sys

import aggregate

SURFACE = """
ASTParser AggregateError AnchorState Composition ContextFileEntry ContextPreset ContextPresetManager FileItem FileRecord
FuzzyAnchor Project Prompt Resolution Segment View ViewMode build_beads_section build_discussion_section
build_discussion_text build_file_items build_markdown build_markdown_from_items build_markdown_no_history
build_screenshots_section build_summary_markdown build_tier3_context compose_prompt compute_file_stats count
find_next_increment get_monitor group_files_by_dir load_config main resolve_paths run summarise_file
"""


def test_the_surface_is_pinned() -> None:
    """These names are public, and each can be loaded (M-14, M-15, M-17)."""
    assert sorted(SURFACE.split()) == sorted(aggregate.__all__)
    for name in aggregate.__all__:
        assert getattr(aggregate, name) is not None
    assert dir(aggregate) == sorted(aggregate.__all__)


def test_importing_the_package_loads_nothing_heavy() -> None:
    """``import aggregate`` leaves parsers, validators and tokenizers alone until they are needed."""
    heavy = ("pydantic", "tree_sitter", "tiktoken", "click")
    code = f"import sys, aggregate; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
