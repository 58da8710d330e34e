"""Replace code that a grammar misreads, in the bytes for the parser only."""

import re

# The scanner misreads keywords before a digit or underscore at the start of a line, and modifiers that are called,
# assigned or followed by a member.
_KOTLIN_NAME = re.compile(
    rb"""
    (?<=\n)[ \t]*+(?:
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
    return _KOTLIN_NAME.sub(_capitalised, source)


def _capitalised(match: re.Match[bytes]) -> bytes:
    blanks = len(match[0]) - len(match[0].lstrip())
    return match[0][:blanks] + match[0][blanks:].capitalize()


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
