"""Fence tags of kinds of file that have no grammar here."""

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
