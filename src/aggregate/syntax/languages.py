"""The table of languages: one row each, and nothing else about a language outside its query file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from aggregate.syntax.components import hidden_in_components
from aggregate.syntax.preprocessor import hidden_in_c


class LanguageKind(StrEnum):
    """What a language describes, which decides what its skeleton is."""

    CODE = "code"
    """Programs: bodies can be cut out."""
    DATA = "data"
    """Data, markup and prose: the outline stands for the skeleton."""
    MIXED = "mixed"
    """Markup around programs: bodies can be cut out, and outlines are those of documents."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        name: The name that users type, the tag of fences, and the stem of ``queries/<name>.scm``.
        suffixes: Lower-case file suffixes.
        module: The grammar's import name.
        function: The function in that module that returns the grammar.
        placeholder: What stands for a body that was cut out.
        own_line: The placeholder is a comment to the line's end, so nothing may follow it on its line.
        kind: Code or data.
        names: Whole file names, where a suffix does not tell.
        interpreters: Programs on a `#!` line, without version, where neither name nor suffix tells.
        hidden: Yields the spans, in order and apart, that no grammar can read and that the parser must not see.
    """

    name: str
    suffixes: tuple[str, ...]
    module: str
    placeholder: str = "{ /* ... */ }"
    function: str = "language"
    own_line: bool = False
    kind: LanguageKind = LanguageKind.CODE
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    hidden: Callable[[bytes], Iterator[tuple[int, int]]] | None = None

    @property
    def elision(self) -> str:
        """What stands for lines that are left out between others."""
        return self.placeholder.strip("{} ") if self.kind is LanguageKind.CODE else "..."


LANGUAGES = (
    Language(
        "python",
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python",
        placeholder="...",
        interpreters=("python", "pypy"),
    ),
    Language("c", (".c", ".h"), "tree_sitter_c", hidden=hidden_in_c),
    Language(
        "cpp",
        (
            ".cpp",
            ".hpp",
            ".cc",
            ".hh",
            ".cxx",
            ".hxx",
            ".c++",
            ".h++",
            ".ipp",
            ".tpp",
            ".inl",
            ".cu",
            ".cuh",
        ),
        "tree_sitter_cpp",
        hidden=hidden_in_c,
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        interpreters=("node", "nodejs"),
    ),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        function="language_typescript",
        interpreters=("deno", "bun", "ts-node", "tsx"),
    ),
    Language("tsx", (".tsx",), "tree_sitter_typescript", function="language_tsx"),
    Language("go", (".go",), "tree_sitter_go"),
    Language("rust", (".rs",), "tree_sitter_rust"),
    Language("java", (".java",), "tree_sitter_java"),
    Language(
        "csharp",
        (".cs", ".csx"),
        "tree_sitter_c_sharp",
    ),
    Language(
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru"),
        "tree_sitter_ruby",
        placeholder="# ...",
        own_line=True,
        names=("gemfile", "rakefile", "vagrantfile", "guardfile", "podfile", "fastfile"),
        interpreters=("ruby", "jruby"),
    ),
    Language(
        "php", (".php", ".phtml"), "tree_sitter_php", function="language_php", interpreters=("php",)
    ),
    Language(
        "bash",
        (".sh", ".bash"),
        "tree_sitter_bash",
        placeholder="{ : ...; }",
        names=(".bashrc", ".bash_profile", ".profile"),
        interpreters=("bash", "sh", "dash", "ash", "ksh", "zsh"),
    ),
    Language("markdown", (".md", ".markdown"), "tree_sitter_markdown", kind=LanguageKind.DATA),
    Language("html", (".html", ".htm", ".xhtml"), "tree_sitter_html", kind=LanguageKind.DATA),
    Language("css", (".css",), "tree_sitter_css", kind=LanguageKind.DATA),
    Language(
        "json",
        (".json", ".jsonc", ".jsonl", ".ndjson", ".geojson", ".ipynb", ".webmanifest"),
        "tree_sitter_json",
        kind=LanguageKind.DATA,
        names=("composer.lock", "pipfile.lock"),
    ),
    Language(
        "yaml",
        (".yaml", ".yml"),
        "tree_sitter_yaml",
        kind=LanguageKind.DATA,
    ),
    Language(
        "toml",
        (".toml",),
        "tree_sitter_toml",
        kind=LanguageKind.DATA,
        names=("cargo.lock", "pipfile", "poetry.lock", "uv.lock"),
    ),
    # Markup with a script and a style in one file, read by HTML's grammar.
    Language(
        "vue",
        (".vue",),
        "tree_sitter_html",
        placeholder="...",
        kind=LanguageKind.MIXED,
        hidden=hidden_in_components,
    ),
    Language(
        "svelte",
        (".svelte",),
        "tree_sitter_html",
        placeholder="...",
        kind=LanguageKind.MIXED,
        hidden=hidden_in_components,
    ),
)

_HEADER_IS_CPP = re.compile(
    r"^[ \t]*(?:namespace\b|template[ \t]*<|class[ \t]+\w|(?:public|private|protected)[ \t]*:|using[ \t]+\w)",
    re.MULTILINE,
)

# Fence tags of kinds of file that have no grammar here.
_PLAIN_FENCES = {
    ".bat": "bat", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake", ".conf": "ini",
    ".csv": "csv", ".dart": "dart", ".desktop": "ini", ".diff": "diff",
    ".dockerfile": "dockerfile", ".erl": "erlang", ".ex": "elixir", ".exs": "elixir",
    ".fs": "fsharp", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy",
    ".hs": "haskell", ".ini": "ini", ".jl": "julia", ".kt": "kotlin", ".kts": "kotlin",
    ".less": "less", ".lua": "lua", ".m": "objectivec", ".mk": "makefile", ".ml": "ocaml",
    ".nim": "nim", ".patch": "diff", ".pl": "perl", ".proto": "protobuf", ".ps1": "powershell",
    ".r": "r", ".rst": "rst", ".sass": "sass", ".scala": "scala", ".scm": "scheme",
    ".scss": "scss", ".sql": "sql", ".svg": "xml", ".swift": "swift",
    ".tf": "hcl", ".tsv": "tsv", ".xml": "xml", ".zig": "zig",
}  # fmt: skip
_PLAIN_NAMES = {
    ".editorconfig": "ini", ".gitattributes": "gitattributes", ".gitconfig": "ini",
    ".gitignore": "gitignore", ".gitmodules": "ini", "cmakelists.txt": "cmake",
    "containerfile": "dockerfile", "dockerfile": "dockerfile", "gnumakefile": "makefile",
    "makefile": "makefile",
}  # fmt: skip
_PLAIN_INTERPRETERS = {
    "awk": "awk", "elixir": "elixir", "gawk": "awk", "groovy": "groovy", "julia": "julia",
    "lua": "lua", "make": "makefile", "perl": "perl", "pwsh": "powershell", "rscript": "r",
    "tclsh": "tcl",
}  # fmt: skip
_LONGEST_SHEBANG = 256  # as much as a system reads of it


def language_of(path: str, text: str = "") -> Language | None:
    """Return the language of the file at ``path``, or ``None`` where it has no grammar.

    A ``.h`` file is C unless ``text`` holds constructs that only C++ has. A file of no known name or suffix is known by
    the interpreter on its ``#!`` line.
    """
    by_name, by_suffix, by_interpreter = _index()
    name, suffix = _name_and_suffix(path)
    language = by_name.get(name) or by_suffix.get(suffix)
    if language is None and text.startswith("#!") and not _plain_tag(name, suffix):
        language = by_interpreter.get(_interpreter(text))
    if language is None:
        return None
    if language.name == "c" and suffix == ".h" and _HEADER_IS_CPP.search(text):
        return language_named("cpp")
    return language


def language_named(name: str) -> Language | None:
    """Return the language with this name, or ``None``."""
    return next((language for language in LANGUAGES if language.name == name), None)


def fence_tag(path: str, text: str = "") -> str:
    """Return the tag for a fence around ``text``, the file at ``path``; ``"text"`` where nothing better is known."""
    language = language_of(path, text[:_LONGEST_SHEBANG] if text.startswith("#!") else "")
    if language is not None:
        return language.name
    tag = _plain_tag(*_name_and_suffix(path))
    if tag is None and text.startswith("#!"):
        tag = _PLAIN_INTERPRETERS.get(_interpreter(text))
    return tag or "text"


def _plain_tag(name: str, suffix: str) -> str | None:
    return _PLAIN_NAMES.get(name) or _PLAIN_FENCES.get(suffix)


def _interpreter(text: str) -> str:
    """Return the program on the ``#!`` line that ``text`` begins with, without folders and version, in lower case."""
    words = text[2:_LONGEST_SHEBANG].partition("\n")[0].split()
    if words and words[0].rpartition("/")[2] == "env":
        rest = (word.removeprefix("-S").removeprefix("--split-string=") for word in words[1:])
        words = [word for word in rest if word and word[0] != "-" and "=" not in word]
    program = words[0].replace("\\", "/").rpartition("/")[2].lower() if words else ""
    return program.removesuffix(".exe").rstrip(".0123456789")


def _name_and_suffix(path: str) -> tuple[str, str]:
    """Return the file's name and its suffix with the dot, in lower case."""
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    return name, name[dot:] if dot > 0 else ""


@cache
def _index() -> tuple[dict[str, Language], dict[str, Language], dict[str, Language]]:
    """Return the rows by file name, by suffix and by interpreter."""
    by_name = {name: language for language in LANGUAGES for name in language.names}
    by_suffix = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
    by_interpreter = {
        program: language for language in LANGUAGES for program in language.interpreters
    }
    return by_name, by_suffix, by_interpreter
