"""The public surface."""

import ast
from pathlib import Path

import aggregate
from tests.processes import python

SURFACE = """
ASTParser AggregateError AggregatedResult AnchorState Answer AskedViews Bill Budget BudgetError ChatRequest Client
ClientError ClientSetupError CompilationContext CompilerError Completion Composition ConfigError ContextFileEntry ContextPreset
ContextPresetManager DataReferenceError EngineLimits Exchange FileChoice FileItem FileRecord FinishReason FuzzyAnchor
GoalResult Group LabelledOutput MergeStrategy MetadataBasedResultCompiler Model ModelError ModelWorker Neuron
NeuronAgent Origin OutputError Place PlannedMessages Project Prompt PromptStream PromptTooLongError ProviderError
Question Reply Resolution ResultCompiler RunHandle RunOptions RunRecord RunStatus SandboxError ScopeError Segment
SpawnError StateError SubagentSession Task ToolContext ToolError ToolRegistry TrackError Usage View ViewMode
WorkerError WorkerReply bill_for build_beads_section build_discussion_section build_discussion_text build_file_items
build_markdown build_markdown_from_items build_markdown_no_history build_screenshots_section build_summary_markdown
build_tier3_context compact_data compact_discussion compile_results compose_prompt compute_file_stats conduct count
discover_tools execute_data_analysis extract_quantity find_next_increment get_monitor group_files_by_dir load_config
load_data_reference main make_worker merge_outputs open_client open_project plan_for plan_messages prepare_compaction
prepare_turn prune_data_cache record redacting register_compiler request_for resolve_paths result_compiler run
run_worker_lifecycle scripted_model select_answer send_turn sessions_spawn standard_tools stream_prompt summarise_file
to_anthropic to_gemini to_openai tool
"""


def test_the_surface_is_pinned() -> None:
    """These names are public, and each can be loaded (M-14, M-15, M-17)."""
    assert sorted(SURFACE.split()) == sorted(aggregate.__all__)
    for name in aggregate.__all__:
        assert getattr(aggregate, name) is not None
    assert dir(aggregate) == sorted(aggregate.__all__)


def test_type_checkers_see_the_same_names() -> None:
    """The imports for type checkers name what is loaded at run time, from the same modules."""
    source = Path(aggregate.__file__).read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    named = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    assert named == {name: aggregate._HOME_BY_NAME[name] for name in aggregate.__all__}


def test_importing_the_package_loads_nothing_heavy() -> None:
    """``import aggregate`` leaves parsers, validators and tokenizers alone until they are needed."""
    heavy = ("pydantic", "tree_sitter", "tiktoken", "click")
    code = f"import sys, aggregate; print([name for name in {heavy} if name in sys.modules])"
    assert python(code) == "[]\n"


def test_a_prompt_of_files_in_full_loads_only_what_it_needs(tmp_path: Path) -> None:
    """A quiet run that shows a file in full leaves validator, parser, tokenizer, processes and sub-agents' results alone."""
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    # By its own name no other test has made it known.
    config = f'# {tmp_path}\n[files]\npaths = ["a.py"]\n'
    (tmp_path / "manual_slop.toml").write_text(config, encoding="utf-8")
    needless = (
        "pydantic", "tree_sitter", "tiktoken", "concurrent.futures", "tomlkit", "statistics", "rich",
        "platformdirs", "charset_normalizer", "aggregate.base.tokens.counter", "aggregate.prompt.asking.results",
    )  # fmt: skip
    code = (
        "import sys\nfrom aggregate.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {needless} if name in sys.modules])"
    )
    assert python(code, "run", "-q", folder=tmp_path).splitlines()[1:] == ["[]"]
    assert (tmp_path / "md_gen").is_dir()


def test_reading_a_configuration_builds_one_validator(tmp_path: Path) -> None:
    """The validators of single tables, which are part of the whole one, are not built once more by themselves."""
    config = tmp_path / "manual_slop.toml"
    config.write_text("[files]\npaths = ['a.py']\n[output]\nnamespace = 'x'\n", encoding="utf-8")
    code = (
        "from pathlib import Path; from aggregate.project.configuration import load; from aggregate.project import tables as schema\n"
        f"load.validate(load.parse_toml(load.read_toml_text(Path({str(config)!r})), None))\n"
        "tables = [value for name, value in vars(schema).items() if name.endswith('Table')]\n"
        "print(load._validator.cache_info().currsize, [table.__name__ for table in tables if hasattr(table, '__pydantic_validator__')])"
    )
    assert python(code) == "1 []\n"
