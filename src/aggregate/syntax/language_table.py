"""The table of languages: one row each, and nothing else about a language outside its query file."""

from aggregate.syntax.language import Language, LanguageKind
from aggregate.syntax.preprocessor import hidden_in_c

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
)
