"""The table of languages: one row each, and nothing else about a language outside its query file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

from aggregate.code.syntax.preprocessor import hidden_in_c, hidden_in_components


class LanguageKind(StrEnum):
    """What a language describes, which decides what its skeleton is."""

    CODE = "code"  # programs: bodies can be cut out
    DATA = "data"  # data, markup and prose: the outline stands for the skeleton
    # Markup around programs: bodies can be cut out, and outlines are those of documents.
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Language:
    """One language."""

    name: str  # the name that users type, and the stem of ``queries/<name>.scm``
    suffixes: tuple[str, ...]
    module: str
    placeholder: str = "{ /* ... */ }"
    function: str = "language"
    own_line: bool = False  # the placeholder is a comment to the line's end
    kind: LanguageKind = LanguageKind.CODE
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # programs on a `#!` line, without version
    tag: str = ""  # the tag of fences, where it is not the name
    mark: str = ""  # what stands for lines that are left out between others
    # Yields the spans, in order and apart, that the parser must not see.
    hidden: Callable[[bytes], Iterator[tuple[int, int]]] | None = None

    @property
    def fence(self) -> str:
        return self.tag or self.name

    @property
    def is_installed(self) -> bool:
        return _is_installed(self.module)

    @property
    def elision(self) -> str:
        """What stands for lines that are left out between others."""
        if self.kind is not LanguageKind.CODE:
            return "..."
        return self.mark or self.placeholder.strip("{} ")


@cache
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), "tree_sitter_python", placeholder="...",
        interpreters=("python", "pypy")),
    Language("c", (".c", ".h"), "tree_sitter_c", hidden=hidden_in_c),
    Language("cpp",
        (".cpp", ".hpp", ".cc", ".hh", ".cxx", ".hxx", ".c++", ".h++", ".ipp", ".tpp", ".inl",
         ".cu", ".cuh"), "tree_sitter_cpp", hidden=hidden_in_c),
    Language("javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript",
        interpreters=("node", "nodejs")),
    Language("typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript",
        function="language_typescript", interpreters=("deno", "bun", "ts-node", "tsx")),
    Language("tsx", (".tsx",), "tree_sitter_typescript", function="language_tsx"),
    Language("go", (".go",), "tree_sitter_go"),
    Language("rust", (".rs",), "tree_sitter_rust"),
    Language("java", (".java",), "tree_sitter_java"),
    Language("csharp", (".cs", ".csx"), "tree_sitter_c_sharp"),
    Language("ruby", (".rb", ".rake", ".gemspec", ".ru"), "tree_sitter_ruby", placeholder="# ...",
        own_line=True,
        names=("gemfile", "rakefile", "vagrantfile", "guardfile", "podfile", "fastfile"),
        interpreters=("ruby", "jruby")),
    Language("php", (".php", ".phtml"), "tree_sitter_php", function="language_php",
        interpreters=("php",)),
    Language("bash", (".sh", ".bash"), "tree_sitter_bash", placeholder="{ : ...; }",
        names=(".bashrc", ".bash_profile", ".profile"),
        interpreters=("bash", "sh", "dash", "ash", "ksh", "zsh")),
    Language("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    Language("swift", (".swift",), "tree_sitter_swift"),
    Language("scala", (".scala", ".sc"), "tree_sitter_scala"),
    Language("dart", (".dart",), "tree_sitter_dart"),
    Language("lua", (".lua",), "tree_sitter_lua", placeholder="--[[ ... ]]", mark="-- ...",
        interpreters=("lua", "luajit")),
    Language("elixir", (".ex", ".exs"), "tree_sitter_elixir", placeholder="do ... end",
        mark="# ...", interpreters=("elixir",)),
    Language("zig", (".zig",), "tree_sitter_zig", placeholder="// ...", own_line=True),
    Language("julia", (".jl",), "tree_sitter_julia", placeholder="# ...", own_line=True,
        interpreters=("julia",)),
    Language("haskell", (".hs",), "tree_sitter_haskell", placeholder="_ {- ... -}", mark="-- ...",
        interpreters=("runghc", "runhaskell")),
    Language("ocaml", (".ml",), "tree_sitter_ocaml", function="language_ocaml",
        placeholder="( (* ... *) )", mark="(* ... *)", interpreters=("ocaml",)),
    Language("ocaml_interface", (".mli",), "tree_sitter_ocaml",
        function="language_ocaml_interface", placeholder="(* ... *)", tag="ocaml"),
    Language("markdown", (".md", ".markdown"), "tree_sitter_markdown", kind=LanguageKind.DATA),
    Language("html", (".html", ".htm", ".xhtml"), "tree_sitter_html", kind=LanguageKind.DATA),
    Language("css", (".css",), "tree_sitter_css", kind=LanguageKind.DATA),
    Language("json",
        (".json", ".jsonc", ".jsonl", ".ndjson", ".geojson", ".ipynb", ".webmanifest"),
        "tree_sitter_json", kind=LanguageKind.DATA, names=("composer.lock", "pipfile.lock")),
    Language("yaml", (".yaml", ".yml"), "tree_sitter_yaml", kind=LanguageKind.DATA),
    Language("toml", (".toml",), "tree_sitter_toml", kind=LanguageKind.DATA,
        names=("cargo.lock", "pipfile", "poetry.lock", "uv.lock")),
    # Markup with a script and a style in one file, read by HTML's grammar.
    Language("vue", (".vue",), "tree_sitter_html", placeholder="...", kind=LanguageKind.MIXED,
        hidden=hidden_in_components),
    Language("svelte", (".svelte",), "tree_sitter_html", placeholder="...",
        kind=LanguageKind.MIXED, hidden=hidden_in_components),
    Language("dockerfile", (".dockerfile", ".containerfile"), "tree_sitter_containerfile",
        kind=LanguageKind.DATA, names=("dockerfile", "containerfile")),
    Language("fortran", (".f90", ".f95", ".f03", ".f08", ".f18"), "tree_sitter_fortran",
        placeholder="! ...", own_line=True),
    Language("hcl", (".hcl", ".tf", ".tfvars"), "tree_sitter_hcl", kind=LanguageKind.DATA),
    Language("nix", (".nix",), "tree_sitter_nix", kind=LanguageKind.DATA),
    Language("objectivec", (".m",), "tree_sitter_objc", hidden=hidden_in_c),
    Language("perl", (".pl", ".pm", ".t", ".psgi"), "tree_sitter_perl", placeholder="{ ... }",
        names=("cpanfile",), interpreters=("perl",)),
    Language("solidity", (".sol",), "tree_sitter_solidity"),
)  # fmt: skip
