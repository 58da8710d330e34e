"""Detect a file's language, and disguise code that its grammar misreads."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

from aggregate.code.syntax.preprocessor import hidden_in_c, hidden_in_components, hidden_in_csharp

# The scanner misreads keywords before a digit or underscore at the start of a line, and modifiers that are called,
# assigned or followed by a member.
_KOTLIN_NAME = re.compile(
    rb"""
    (?<=\n)([ \t]*+)(
        (?:as|by|constructor|else|get|in|instanceof|set|where)(?=[0-9_])
      | (?:abstract|crossinline|external|final|infix|inline|internal|lateinit|noinline|open|override
          |private|protected|public|sealed|tailrec|vararg)(?=[ \t]*+(?:\?\.|[.(\[]|=(?!=)))
      | get(?=[.\[]|[ \t]*+=[^=]|\([^)\s])
      | set(?=[.\[]|[ \t]*+=[^=]|\([^()\n]*+,))
    """,
    re.VERBOSE,
)


def kotlin_with_plain_names(source: bytes) -> bytes:
    """Return Kotlin code without names misread as keywords."""
    return _KOTLIN_NAME.sub(lambda match: match[1] + match[2].capitalize(), source)


_RUST_SKIPPED = rb"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_RUST_NOISE = re.compile(rb"(?:%b|\#!?\[(?:[^\[\]]++|\[[^\[\]]*+\])*+\])" % _RUST_SKIPPED)
_RUST_TOKENS = re.compile(
    rb"""%b | r(?P<hashes>\#*+)"(?s:.*?)(?:"(?P=hashes)|\Z) | "(?s:[^"\\]++|\\.)*+(?:"|\Z)
    | '(?:[^'\\\n]|\\[^\n]{1,9}?)' | (?P<mark>[{};])"""
    % _RUST_SKIPPED,
    re.VERBOSE,
)
_RUST_MACRO = re.compile(rb"(?<!\w)(?!macro_rules)[a-z_][\w:]*+![ \t]*+\Z")
_RUST_MACRO_LINE = re.compile(rb"^[ \t]*+[a-z_][\w:]*+![ \t]*+\{", re.MULTILINE)
_RUST_VISIBILITY = rb"(?:pub\b(?:\([^()\n]*+\))?\s*+)?"
# Containers of items; a function with a trait in its signature is not one.
_RUST_HOLDER = re.compile(
    rb"\s*+%b(?:(?:unsafe|default|const|auto)\s++)*(?:impl|trait|mod|extern)\b(?!.*\bfn\b)"
    % _RUST_VISIBILITY,
    re.DOTALL,
)
_RUST_ITEM = re.compile(
    rb"(?:\s++|%b)*+%b(?:fn|struct(?!\s++\w++\s*+:)|enum|union|trait|impl|mod|use|static(?!\s++ref)|const|type"
    rb"|unsafe|async|extern|[a-z_]\w*+![ \t]*+\{)(?!\w)" % (_RUST_NOISE.pattern, _RUST_VISIBILITY)
)


def rust_with_open_macros(source: bytes) -> bytes:
    """Return Rust code with macros replaced by their content.

    An example is ``cfg_rt! { fn f() {} }``.
    """
    if not _RUST_MACRO_LINE.search(source):
        return source
    opened = bytearray(source)
    braces: list[tuple[bool, bool]] = []  # whether it contains items, and is a macro's
    begin = 0  # of the current item
    for token in _RUST_TOKENS.finditer(source):
        mark, position = token["mark"], token.start()
        holds_items = not braces or braces[-1][0]
        if mark == b"{":
            is_macro = False
            if holds_items:
                head = _RUST_NOISE.sub(b" ", source[begin:position])
                name = _RUST_MACRO.search(source, begin, position)
                is_macro = bool(name and _RUST_ITEM.match(source, position + 1))
                if name and is_macro:
                    opened[name.start() : position + 1] = b" " * (position + 1 - name.start())
                holds_items = is_macro or bool(_RUST_HOLDER.match(head))
            braces.append((holds_items, is_macro))
            begin = position + 1
        elif mark == b"}" and braces:
            _, is_macro = braces.pop()
            if is_macro:
                opened[position] = ord(b" ")
            begin = position + 1
        elif mark == b";" and holds_items:
            begin = position + 1
    return bytes(opened)


class LanguageKind(StrEnum):
    """What a language is for (programs, prose, data), which decides about its skeleton."""

    CODE = "code"  # programs: bodies can be cut out
    DATA = "data"  # data, markup and prose: the skeleton is the outline
    # Markup around programs: bodies can be cut out, outlines are those of documents.
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its grammar and comment marks."""

    name: str  # as users type it, and the stem of ``queries/<name>.scm``
    suffixes: tuple[str, ...]
    module: str
    placeholder: str = "{ /* ... */ }"
    function: str = "language"
    own_line: bool = False  # the placeholder is a comment up to the end of the line
    kind: LanguageKind = LanguageKind.CODE
    names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # programs on a `#!` line, without version
    tag: str = ""  # the tag of fences, if it is not the name
    mark: str = ""  # the gap mark, if it is not the placeholder without braces
    # The beginning of a comment, and after a blank its end; "" for none.
    comment: str = "//"
    # Lists of statements without brackets around them, beside those of ``statements``.
    lists: str = ""
    blocks: str = ""  # opening words of blocks up to ``end``
    # Yields the spans to hide from the parser, in order and disjoint.
    hidden: Callable[[bytes], Iterator[tuple[int, int]]] | None = None
    # Returns as many bytes for the parser alone: names are read from the text.
    disguise: Callable[[bytes], bytes] | None = None

    @property
    def fence(self) -> str:
        return self.tag or self.name

    @property
    def is_installed(self) -> bool:
        return _find_spec(self.module) is not None

    @property
    def elision(self) -> str:
        """The line shown in place of omitted lines."""
        if self.kind is not LanguageKind.CODE:
            return "..."
        return self.mark or self.placeholder.strip("{} ")


_find_spec = cache(find_spec)
LANGUAGES = (
    Language("python", (".py", ".pyi", ".pyw"), "tree_sitter_python", placeholder="...",
        interpreters=("python", "pypy", "uv", "pipx"), comment="#"),
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
    Language("rust", (".rs",), "tree_sitter_rust", interpreters=("rust-script", "cargo"),
        disguise=rust_with_open_macros),
    Language("java", (".java",), "tree_sitter_java"),
    Language("csharp", (".cs", ".csx"), "tree_sitter_c_sharp", hidden=hidden_in_csharp),
    Language("ruby", (".rb", ".rake", ".gemspec", ".ru"), "tree_sitter_ruby", placeholder="# ...",
        own_line=True,
        names=("gemfile", "rakefile", "vagrantfile", "guardfile", "podfile", "fastfile"),
        interpreters=("ruby", "jruby"), comment="#",
        blocks="begin case class def do for if module unless until while"),
    Language("php", (".php", ".phtml"), "tree_sitter_php", function="language_php",
        interpreters=("php",)),
    Language("bash", (".sh", ".bash"), "tree_sitter_bash", placeholder="{ : ...; }",
        names=(".bashrc", ".bash_profile", ".profile"),
        interpreters=("bash", "sh", "dash", "ash", "ksh", "zsh"), comment="#",
        lists="if_statement elif_clause else_clause"),
    Language("kotlin", (".kt", ".kts"), "tree_sitter_kotlin",
        interpreters=("kotlin",), disguise=kotlin_with_plain_names),
    Language("swift", (".swift",), "tree_sitter_swift", interpreters=("swift",)),
    Language("scala", (".scala", ".sc"), "tree_sitter_scala", interpreters=("scala", "scala-cli")),
    Language("dart", (".dart",), "tree_sitter_dart", interpreters=("dart",)),
    Language("lua", (".lua",), "tree_sitter_lua", placeholder="--[[ ... ]]", mark="-- ...",
        interpreters=("lua", "luajit"), comment="--", blocks="do function if"),
    Language("elixir", (".ex", ".exs"), "tree_sitter_elixir", placeholder="do ... end",
        mark="# ...", interpreters=("elixir",), comment="#", blocks="do fn"),
    Language("zig", (".zig",), "tree_sitter_zig", placeholder="// ...", own_line=True),
    Language("julia", (".jl",), "tree_sitter_julia", placeholder="# ...", own_line=True,
        interpreters=("julia",), comment="#",
        blocks="abstract baremodule begin do for function if let macro module primitive quote struct try while",
        lists="function_definition macro_definition if_statement elseif_clause else_clause for_statement"
        " while_statement let_statement try_statement catch_clause finally_clause do_clause"
        " struct_definition module_definition compound_statement"),
    Language("haskell", (".hs",), "tree_sitter_haskell", placeholder="_ {- ... -}", mark="-- ...",
        interpreters=("runghc", "runhaskell"), comment="--"),
    Language("ocaml", (".ml",), "tree_sitter_ocaml", function="language_ocaml",
        placeholder="( (* ... *) )", mark="(* ... *)", interpreters=("ocaml",), comment="(* *)",
        lists="structure"),
    Language("ocaml_interface", (".mli",), "tree_sitter_ocaml",
        function="language_ocaml_interface", placeholder="(* ... *)", tag="ocaml", comment="(* *)",
        lists="signature"),
    Language("markdown", (".md", ".markdown", ".qmd", ".rmd"), "tree_sitter_markdown", kind=LanguageKind.DATA,
        comment="<!-- -->", lists="list"),
    Language("html", (".html", ".htm", ".xhtml"), "tree_sitter_html", kind=LanguageKind.DATA,
        comment="<!-- -->"),
    Language("css", (".css",), "tree_sitter_css", kind=LanguageKind.DATA, comment="/* */"),
    Language("json",
        (".json", ".jsonc", ".jsonl", ".ndjson", ".geojson", ".ipynb", ".webmanifest"),
        "tree_sitter_json", kind=LanguageKind.DATA, names=("composer.lock", "pipfile.lock"),
        comment=""),
    Language("yaml", (".yaml", ".yml"), "tree_sitter_yaml", kind=LanguageKind.DATA, comment="#"),
    Language("toml", (".toml",), "tree_sitter_toml", kind=LanguageKind.DATA,
        names=("cargo.lock", "pipfile", "poetry.lock", "uv.lock"), comment="#"),
    # Markup with a script and a style in one file, read by HTML's grammar.
    Language("vue", (".vue",), "tree_sitter_html", placeholder="...", kind=LanguageKind.MIXED,
        hidden=hidden_in_components, comment="<!-- -->"),
    Language("svelte", (".svelte",), "tree_sitter_html", placeholder="...",
        kind=LanguageKind.MIXED, hidden=hidden_in_components, comment="<!-- -->"),
    Language("dockerfile", (".dockerfile", ".containerfile"), "tree_sitter_containerfile",
        kind=LanguageKind.DATA, names=("dockerfile", "containerfile"), comment="#"),
    Language("fortran", (".f90", ".f95", ".f03", ".f08", ".f18"), "tree_sitter_fortran",
        placeholder="! ...", own_line=True, comment="!",
        lists="module subroutine function if_statement do_loop"),
    Language("hcl", (".hcl", ".tf", ".tfvars"), "tree_sitter_hcl", kind=LanguageKind.DATA,
        comment="#"),
    Language("nix", (".nix",), "tree_sitter_nix", kind=LanguageKind.DATA, comment="#"),
    Language("objectivec", (".m",), "tree_sitter_objc", hidden=hidden_in_c),
    Language("perl", (".pl", ".pm", ".t", ".psgi"), "tree_sitter_perl", placeholder="{ ... }",
        names=("cpanfile",), interpreters=("perl",), comment="#"),
    Language("solidity", (".sol",), "tree_sitter_solidity"),
)  # fmt: skip
_BY_NAME = {name: row for row in LANGUAGES for name in row.names}
_BY_SUFFIX = {suffix: row for row in LANGUAGES for suffix in row.suffixes}
_BY_INTERPRETER = {program: row for row in LANGUAGES for program in row.interpreters}
TAG_BY_SUFFIX = {
    ".bat": "bat", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake", ".conf": "ini",
    ".csv": "csv", ".desktop": "ini", ".diff": "diff", ".erl": "erlang",
    ".fs": "fsharp", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy",
    ".ini": "ini", ".less": "less", ".mk": "makefile", ".nim": "nim", ".patch": "diff",
    ".proto": "protobuf", ".ps1": "powershell", ".r": "r", ".rst": "rst", ".sass": "sass",
    ".scm": "scheme", ".scss": "scss", ".sql": "sql", ".svg": "xml", ".tsv": "tsv",
    ".xml": "xml",
}  # fmt: skip
TAG_BY_NAME = {
    ".editorconfig": "ini", ".gitattributes": "gitattributes", ".gitconfig": "ini",
    ".gitignore": "gitignore", ".gitmodules": "ini", "cmakelists.txt": "cmake",
    "gnumakefile": "makefile",
    "makefile": "makefile",
}  # fmt: skip
TAG_BY_INTERPRETER = {
    "awk": "awk", "gawk": "awk", "groovy": "groovy",
    "make": "makefile", "pwsh": "powershell", "rscript": "r",
    "tclsh": "tcl",
}  # fmt: skip
# Lower-case file names and suffixes with a language or tag.
TAGGED_NAMES = frozenset((*_BY_NAME, *TAG_BY_NAME))
TAGGED_SUFFIXES = frozenset((*_BY_SUFFIX, *TAG_BY_SUFFIX))
# Comment marks of files without a grammar.
_COMMENTS = {
    "#": "awk cmake gitattributes gitignore graphql makefile nim powershell r tcl",
    "%": "erlang",
    "--": "sql",
    ";": "clojure ini scheme",
    "//": "fsharp groovy less protobuf sass scss",
    "<!-- -->": "xml",
    "rem": "bat",
}
HOW_TO_INSTALL = "aggregate languages says how to install it"  # the same on all machines

_HEADER_IS_CPP = re.compile(
    r"^[ \t]*(?:(?:inline[ \t]+)?namespace\b|template[ \t]*<|class[ \t]+\w"
    r"|(?:public|private|protected)[ \t]*:|using[ \t]+\w)",
    re.MULTILINE,
)

_HEADER_IS_OBJECTIVE_C = re.compile(r"^[ \t]*@(?:class|import|interface|protocol)\b", re.MULTILINE)
# MATLAB's files have the same suffix, but none of these.
_IS_OBJECTIVE_C = re.compile(
    r"^[ \t]*(?:@(?:class|import|interface|implementation|protocol)\b|#[ \t]*(?:import|include)\b|//|/\*)",
    re.MULTILINE,
)

_LONGEST_SHEBANG = 256  # systems read no more


def language_of(path: str, text: str = "") -> Language | None:
    """Return a file's language if its grammar is installed."""
    language = _language_at(path, text)
    if language is None or not language.is_installed:
        return None
    if language.name == "objectivec" and text and not _IS_OBJECTIVE_C.search(text):
        return None
    if language.name == "c" and path.lower().endswith(".h"):
        objective_c = language_named("objectivec")
        if objective_c and objective_c.is_installed and _HEADER_IS_OBJECTIVE_C.search(text):
            return objective_c
        return (language_named("cpp") if _HEADER_IS_CPP.search(text) else None) or language
    return language


def naming_class(path: str) -> str:
    """Return a cache key for a path's language.

    The key has the part of the path that decides its language and fence tag.
    """
    name, suffix = _name_and_suffix(path)
    language = _BY_NAME.get(name) or _BY_SUFFIX.get(suffix)
    return f"{suffix} {language.name if language else _plain_tag(name, suffix) or '?'}"


def uninstalled_language_of(path: str, text: str = "") -> Language | None:
    language = _language_at(path, text)
    return None if language is None or language.is_installed else language


def language_named(name: str) -> Language | None:
    return next((language for language in LANGUAGES if language.name == name), None)


def fence_tag(path: str, text: str = "") -> str:
    """Return the tag for a fence around a file's text, ``"text"`` for an unknown language."""
    language = _language_at(path, text)
    if language is not None:
        return language.fence
    tag = _plain_tag(*_name_and_suffix(path))
    if tag is None and text.startswith("#!"):
        tag = TAG_BY_INTERPRETER.get(_interpreter(text))
    return tag or "text"


@cache
def comment_of(tag: str) -> str:
    """Return the comment mark of a language; a closing mark follows after a blank."""
    for language in LANGUAGES:
        if tag in (language.name, language.fence):
            return language.comment
    return next((mark for mark, tags in _COMMENTS.items() if tag in tags.split()), "")


def _language_at(path: str, text: str) -> Language | None:
    name, suffix = _name_and_suffix(path)
    language = _BY_NAME.get(name) or _BY_SUFFIX.get(suffix)
    if language is None and text.startswith("#!") and not _plain_tag(name, suffix):
        language = _BY_INTERPRETER.get(_interpreter(text))
    return language


def _plain_tag(name: str, suffix: str) -> str | None:
    return TAG_BY_NAME.get(name) or TAG_BY_SUFFIX.get(suffix)


def _interpreter(text: str) -> str:
    """Return the program that a ``#!`` line starts, without launchers such as ``env``."""
    words = text[2:_LONGEST_SHEBANG].partition("\n")[0].split()
    if words and words[0].rpartition("/")[2] == "env":
        words = [word.removeprefix("-S").removeprefix("--split-string=") for word in words[1:]]
    programs = [_program(word) for word in words if word and word[0] != "-" and "=" not in word]
    with_tag = _BY_INTERPRETER.keys() | TAG_BY_INTERPRETER
    matches = [name for name in programs if name in with_tag]
    return (matches or programs or [""])[-1 if matches else 0]


def _program(word: str) -> str:
    name = word.replace("\\", "/").rpartition("/")[2].lower()
    return name.removesuffix(".exe").rstrip(".0123456789")


def _name_and_suffix(path: str) -> tuple[str, str]:
    name = path[path.rfind("/") + 1 :].lower()
    dot = name.rfind(".")
    return name, name[dot:] if dot > 0 else ""
