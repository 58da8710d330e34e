"""Fence tags of kinds of file that have no grammar here."""

TAG_BY_SUFFIX = {
    ".bat": "bat", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake", ".conf": "ini",
    ".csv": "csv", ".dart": "dart", ".desktop": "ini", ".diff": "diff",
    ".erl": "erlang", ".ex": "elixir", ".exs": "elixir",
    ".fs": "fsharp", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy",
    ".hs": "haskell", ".ini": "ini", ".jl": "julia", ".kt": "kotlin", ".kts": "kotlin",
    ".less": "less", ".lua": "lua", ".mk": "makefile", ".ml": "ocaml",
    ".nim": "nim", ".patch": "diff", ".proto": "protobuf", ".ps1": "powershell",
    ".r": "r", ".rst": "rst", ".sass": "sass", ".scala": "scala", ".scm": "scheme",
    ".scss": "scss", ".sql": "sql", ".svg": "xml", ".swift": "swift",
    ".tsv": "tsv", ".vue": "vue", ".xml": "xml", ".zig": "zig",
}  # fmt: skip
TAG_BY_NAME = {
    ".editorconfig": "ini", ".gitattributes": "gitattributes", ".gitconfig": "ini",
    ".gitignore": "gitignore", ".gitmodules": "ini", "cmakelists.txt": "cmake",
    "gnumakefile": "makefile",
    "makefile": "makefile",
}  # fmt: skip
TAG_BY_INTERPRETER = {
    "awk": "awk", "elixir": "elixir", "gawk": "awk", "groovy": "groovy", "julia": "julia",
    "lua": "lua", "make": "makefile", "pwsh": "powershell", "rscript": "r",
    "tclsh": "tcl",
}  # fmt: skip
