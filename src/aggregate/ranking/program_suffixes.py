"""Which files are programs: by their language, or where that has neither grammar nor name here by their suffix."""

from typing import Final

from aggregate.ranking.corpus import FileFacts

_SUFFIXES: Final = frozenset(
    """
    .ada .adb .ads .agda .ahk .applescript .asm .astro .awk .bas .bb .bqn .bzl .capnp .cbl .clj .cljc .cljs .cmd .cob
    .coffee .comp .cr .csh .d .dpr .el .elm .elv .f .f77 .factor .fbs .fish .fnl .for .forth .frag .fsi .fsx .fth .gd
    .geom .gleam .glsl .hlsl .hrl .hx .hy .idr .janet .kk .ksh .l .lean .lfe .lisp .litcoffee .lpr .lsp .m4 .metal .mm
    .mojo .moon .nims .nu .nut .odin .pas .pony .prolog .psm1 .purs .pxd .pxi .pyx .qml .raku .rakumod .rei .rkt .roc .s
    .sml .star .sv .svh .tcl .thrift .v .vala .vapi .vb .vbs .vert .vhd .vhdl .vim .wat .wgsl .wren .xs .y .zsh
    """.split()  # noqa: SIM905 - a line for each word would fill a page
)
"""Of languages that projects are written in; what is left out counts as text, as most files without a language are."""


def program_language(facts: FileFacts) -> str:
    """Return what tells a program's language from others: its name, or its suffix; ``""`` for what is no program."""
    if facts.language:
        return facts.language if facts.is_code else ""
    start = facts.path.rfind("/") + 1
    dot = facts.path.rfind(".", start + 1)  # a name that begins with a dot has no suffix
    suffix = facts.path[dot:].lower() if dot > 0 else ""
    return suffix if suffix in _SUFFIXES else ""
