"""Hide code that grammars cannot read: macros and conditions of C, expressions in markup."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

_BRACE_OR_TAG = re.compile(rb"[{}]|</?(?:script|style|template)\b")


def hidden_in_components(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of expressions in braces, which the grammar of markup cannot read."""
    # Skip pairs around a tag of the component, and nested pairs.
    pairs: list[tuple[int, int]] = []
    within: list[tuple[int, int]] = []  # pairs that count if the outer brace is never closed
    openings: list[int] = []
    for match in _BRACE_OR_TAG.finditer(source):
        if match[0] == b"{":
            openings.append(match.start())
        elif match[0] != b"}":
            openings.clear()
            pairs += within
            within.clear()
        elif openings:
            start = openings.pop()
            while within and within[-1][0] > start:
                within.pop()
            if openings:
                within.append((start, match.end()))
            else:
                pairs.append((start, match.end()))
    for start, end in pairs + within:
        is_value = source[start - 1 : start] == b"="
        yield start + is_value, end - is_value


def hidden_in_c(source: bytes) -> Iterator[tuple[int, int]]:
    macros: list[tuple[int, int]] = []
    for match in _macros().finditer(source):
        if match.lastindex is None:
            continue  # skipped
        starts = [(match.start(group), match[group]) for group in range(1, match.lastindex + 1)]
        macros += [(start, start + len(text.rstrip())) for start, text in starts if start >= 0]
    if b"export" in source:
        macros += [match.span() for match in _EXPORT.finditer(source)]
        macros += _export_blocks(source)
    macros += [match.span(1) for match in _BEHIND_METHOD.finditer(source)]
    spans = [*macros, *_broken_conditions(without(source, macros))]
    if b"\\" in source:  # a grammar ends a macro of several lines at its first comment
        for macro in _MACRO_OF_LINES.finditer(b"\n" + source):
            # Offsets are one less in the source, which lacks the first line break.
            inside = _COMMENT.finditer(source, macro.start(), macro.end() - 1)
            spans += (comment.span() for comment in inside)
    done = 0
    for start, end in sorted(spans):
        if start >= done:
            yield start, end
            done = end


def _export_blocks(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield the positions of the brackets of ``export { }`` blocks in C++20."""
    end = 0
    for match in _EXPORT_BLOCK.finditer(source):
        if match.start() < end:
            continue  # nested
        end = source.find(b"\n}", match.end())
        if end < 0:
            break
        yield match.span()
        yield end + 1, end + 2


def hidden_in_csharp(source: bytes) -> Iterator[tuple[int, int]]:
    yield from sorted(_broken_conditions(source)) if b"#if" in source else ()


def parts_condition(text: bytes) -> bool:
    """Return whether ``text`` ends a condition begun before it."""
    depth = 0
    for directive in _IF_OR_ENDIF.finditer(text):
        depth += 1 if directive[1] == b"if" else -1
        if depth < 0:
            return True
    return False


def without(source: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return ``source`` with spaces instead of ``spans``, and a semicolon for a brace alone."""
    blanked = bytearray(source)
    for start, end in spans:
        text = source[start:end]
        blanked[start:end] = b";" if text == b"{" else _VISIBLE.sub(b" ", text)
    return bytes(blanked)


_VISIBLE = re.compile(rb"[^\n]")
# Before an export of a C++20 module: `export class Name {`.
_EXPORT = re.compile(
    rb"^export(?=[ \t]++(?:class|struct|union|enum|template|namespace|inline|using|typedef|constexpr|concept)\b)",
    re.MULTILINE,
)
_EXPORT_BLOCK = re.compile(rb"^export\s*+\{", re.MULTILINE)
# Behind a method of Objective-C: `- (void)stop:(int)a XY_AVAILABLE(ios(10)) {`.
_BEHIND_METHOD = re.compile(
    rb"^(?:[-+][ \t]*+\(|@property\b|typedef\b)[^{};\"]{0,1000}?[\w)]\s++"
    rb"((?:_*+[A-Z][A-Z0-9]*+_[A-Z0-9_]*+(?:\((?:[^(){};]++|\([^(){};]*+\))*+\))?\s*+)+)(?=[{;])",
    re.MULTILINE,
)
# After a line break, which is found fifty times as quickly as the beginning of a line.
_MACRO_OF_LINES = re.compile(
    rb"\n[ \t]*+\#[ \t]*+define\b[^\n\\]*+(?=\\)(?:[^\n\\]++|\\\r?\n|\\.)++"
)
# The end of a comment after its ``/*``: in runs without a star, which are skipped at once.
_TO_COMMENT_END = rb"[^*]*+(?:\*++[^*/][^*]*+)*+\**+(?:/|\Z)"
_COMMENT = re.compile(rb"/\*" + _TO_COMMENT_END)
# Tokens that end declarations, or are not part of them. Each is found by its first byte, fifty times as quickly as by a
# choice of patterns.
_DIRECTIVE = (
    rb"[ \t]*+(?P<directive>\#[ \t]*+(?P<word>\w*+)(?:[^\n\\/]++|/\*%b|/|\\\r?\n|\\.)*+)"
    % _TO_COMMENT_END
)
_TOKENS = re.compile(
    rb"""
    (?P<first>[\n/R"'{}])
    (?:(?<=\n)%b
      |(?<=/)(?:/[^\n\\]*+(?:\\.[^\n\\]*+)*+|\*%b)
      |(?P<string>(?<=R)"(?P<mark>[^\s()\\]{0,16})\((?s:.*?)(?:\)(?P=mark)"|\Z)
        |(?<=")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"
        |(?<=')(?:[^'\\\n]|\\.)')
      |(?<=[{}]))
    """
    % (_DIRECTIVE, _TO_COMMENT_END),
    re.VERBOSE,
)
_FIRST_LINE = re.compile(rb"(?P<first>)(?P<string>)" + _DIRECTIVE)
_IF_OR_ENDIF = re.compile(rb"^[ \t]*+\#[ \t]*+(if|endif)", re.MULTILINE)
_BRACES = (b"{", b"}")
_BLANKS = re.compile(rb"(?:\s++|//[^\n]*+|/\*%b)*+" % _TO_COMMENT_END)
_IS_FALSE = re.compile(rb"\#[ \t]*+if[ \t]++0\s*+$")
_LABEL = re.compile(rb"\b(?:public|protected|private|default|case\b[^\n]*|[A-Z][A-Z_]*)\s*:\Z")
# Bytes searched to distinguish a label from another colon: a bound for ``case`` and its value.
_LONGEST_LABEL = 80
_TAIL = re.compile(rb"(?:const|volatile|noexcept|override|final|requires|throw|try)\b|[^\w~:]")
_STATEMENT_PART = re.compile(rb"\}|(?:if|else|for|while|switch|do)\b")
_REQUIRES = re.compile(rb"requires\b")
_NONE = -1


@dataclass(slots=True)
class _Branch:
    """The code between one directive of a condition and the next, such as ``#if`` and ``#else``."""

    directive: int
    start: int
    end: int = _NONE
    first: int = _NONE
    last: int = _NONE
    depth: int = 0
    lowest: int = 0


@dataclass(slots=True)
class _Condition:
    """The branches of a condition, from ``#if`` to ``#endif``."""

    before: int
    branches: list[_Branch] = field(default_factory=list)


def _broken_conditions(source: bytes) -> list[tuple[int, int]]:
    # Conditions stay if they contain whole declarations or branches with half a brace pair; of others one branch stays.
    spans: list[tuple[int, int]] = []
    stack = [_Condition(_NONE, [_Branch(0, 0)])]
    position = 0
    # The first line has no line break before its directive.
    first = _FIRST_LINE.match(source)
    rest = _TOKENS.finditer(source, first.end() if first else 0)
    for match in chain([first] if first else [], rest):
        start, end = match.span()
        branch = stack[-1].branches[-1]
        if position < start:
            _extend(branch, source, position, start)
        position = end
        if match["first"] in _BRACES:
            branch.last = start
            branch.first = start if branch.first == _NONE else branch.first
            branch.depth += 1 if match["first"] == b"{" else -1
            branch.lowest = min(branch.lowest, branch.depth)
        elif match["string"]:
            _extend(branch, source, start, end)
        elif match["word"] in (b"if", b"ifdef", b"ifndef"):
            before = stack[-1].before if branch.last == _NONE else branch.last
            stack.append(_Condition(before, [_Branch(match.start("directive"), end)]))
        elif match["word"] in (b"elif", b"else", b"elifdef", b"elifndef") and len(stack) > 1:
            branch.end = match.start("directive")
            stack[-1].branches.append(_Branch(match.start("directive"), end))
        elif match["word"] == b"endif" and len(stack) > 1:
            condition = stack.pop()
            branch.end = match.start("directive")
            # The first branch with content that is not ``#if 0``.
            filled = [b for b in condition.branches if b.last != _NONE]
            branch = next(
                (b for b in filled if not _IS_FALSE.match(source, b.directive, b.start)),
                condition.branches[0],
            )
            if _are_heads(filled, source):
                spans += ((head.last, head.last + 1) for head in filled[:-1])
                spans += ((b.directive, b.start) for b in condition.branches)
                branch = filled[-1]
                spans.append((condition.branches[-1].end, end))
            elif _is_broken(condition, source, end):
                spans += [(condition.branches[0].directive, branch.start), (branch.end, end)]
                if _REQUIRES.match(source, branch.first):
                    spans.append((branch.first, branch.last + 1))  # no grammar reads all of these
            else:
                branch = condition.branches[-1] if condition.branches[-1].last != _NONE else branch
            outer = stack[-1].branches[-1]
            if branch.last != _NONE:
                outer.last = branch.last
                outer.first = branch.first if outer.first == _NONE else outer.first
                outer.lowest = min(outer.lowest, outer.depth + branch.lowest)
                outer.depth += branch.depth
    return spans


def _extend(branch: _Branch, source: bytes, start: int, end: int) -> None:
    text = source[start:end].rstrip()
    if not text:
        return
    branch.last = start + len(text) - 1
    if branch.first == _NONE:
        branch.first = end - len(source[start:end].lstrip())


def _are_heads(branches: Sequence[_Branch], source: bytes) -> bool:
    """Return whether each branch ends with the head of the same body, which follows the condition."""
    return len(branches) > 1 and all(
        (branch.depth, branch.lowest, source[branch.last]) == (1, 0, ord("{"))
        and not _STATEMENT_PART.match(source, branch.first)
        for branch in branches
    )


def _is_broken(condition: _Condition, source: bytes, end: int) -> bool:
    branches = [branch for branch in condition.branches if branch.last != _NONE]
    if not branches:
        return False
    if any(branch.depth or branch.lowest < 0 for branch in branches):
        # The halves of one statement, such as two heads of an ``if``.
        return len(branches) > 1 and len({branch.depth for branch in branches}) == 1
    behind = _BLANKS.match(source, end)
    following = source[behind.end() : behind.end() + len(b"else")] if behind else b""
    if following == b"else":
        return True
    following = following[:1]
    are_heads = len(branches) > 1 and all(
        source[branch.last : branch.last + 1] == b")" for branch in branches
    )
    if following == b"{" and _ends(source, condition.before, b"") and are_heads:
        return False  # queries handle these: each head keeps its name
    if any(not _ends(source, branch.last, following) for branch in branches):
        return True
    if condition.before != _NONE and source[condition.before : condition.before + 1] == b")":
        return any(_TAIL.match(source, branch.first) for branch in branches)
    return not _ends(source, condition.before, following)


def _ends(source: bytes, last: int, following: bytes) -> bool:
    if last == _NONE:
        return True
    byte = source[last : last + 1]
    if byte == b":":
        return bool(_LABEL.search(source[max(0, last - _LONGEST_LABEL) : last + 1]))
    return byte in b";{}" or (
        byte == b")" and following not in (b"{", b";", b":", b"=", b"-", b",", b")")
    )


# Names for parts of the pattern below, in order of replacement.
_PIECES_OF_C = {
    # `Type`, `ns::Type<int>`, `const Type`; not `Type` if the word before it is the type.
    b"TYPE": rb"(?>(?:(?:const|typename)\s++)?)(?>(?:::\s*+)?)(?!KEYWORD)\w++(?:\s*+<[^;(){}]{0,200}>)?"
    rb"(?:\s*+::\s*+\w++(?:\s*+<[^;(){}]{0,200}>)?){0,4}",
    b"KEYWORD": rb"(?:and|or|not|const|volatile|operator|final|override|noexcept|requires|throw|else|return"
    rb"|__attribute__|__asm__|__restrict\w*)\b",
    # Before a declaration, in capitals: `LIB_API`, `_INLINE`.
    b"SHOUT": rb"\b(?:_*+[A-Z][A-Z0-9]*+_[A-Z0-9_]*+|_++[A-Z][A-Z0-9]{3,}+)\b",
    b"ATTRIBUTE": rb"(?:MACRO|_[a-z]\w*?_\b"
    rb"|_?[a-z]\w*?_(?:attr\w*+|format|nothrow|noreturn|nonnull|pure|deprecated)\b)",
    # Text between two brackets: at most three deep, without statements. The last choice always fails and makes Python
    # before 3.11.5 backtrack to the first one.
    b"ARGUMENTS": rb"\((?:[^(){};]++|\((?:[^(){};]++|\([^(){};]*+\)|(?!))*+\)|(?!))*+\)",
    b"MACRO": rb"(?:__\w++|_[A-Z]\w*+|[A-Z][A-Z0-9_]++\b)",
    b"NAME": rb"(?!(?:__attribute__|__asm__|catch|for|if|noexcept|requires|switch|throw|while)\b)\w++",
    # Text that begins no branch, with a lookahead against each similar branch. It ends before a possible branch: a line
    # with a capital, a keyword, a word in capitals.
    b"PLAIN": rb"""
        [ \t\r\f\v]++ | [^\w\s/"'.\-\[=*})]++ | \d++(?!\w)
      | (?!(?:class|decltype|enum|explicit|extern|friend|if|namespace|operator|struct|typedef|union)\b)[a-z]\w*+
      | [A-Z][A-Z0-9]*+(?:[a-z]\w*+|(?!\w|[ \t]*+\())
      | \n[ \t]*+(?:\#(?:[^\n\\]++|\\\r?\n|\\.)*+|(?![\#A-Z_]|(?:extern|static|inline)\b))
      | //[^\n]*+ | /\*TO_END(?![ \t]*+(?:[A-Z_]|extern\b))
      | "[^"\\\n]*+(?:\\.[^"\\\n]*+)*+" | '(?:[^'\\\n]|\\.)'
      | \)(?=\s*+[;,){]) | \}(?!\s*+[A-Z0-9_]) | \*(?![ \t]*+(?>(?:\([ \t]*+)?)[A-Z_]) | =(?!\s*+\() | \[(?!\[)
      | (?:\.|->)(?!\s*+(?:template|operator)) | -(?!>)
    """,
    b"TO_END": _TO_COMMENT_END,
    # Up to the next text on the line, or on an indented next line.
    b"GAP": rb"[ \t]*+(?>(?:/\*(?>(?:[^*]|\*(?!/)){0,300})\*/[ \t]*+)?)(?>(?:\r?\n[ \t]++)?)",
}


@cache
def _macros() -> re.Pattern[bytes]:
    # Compiled on first use: that takes 10 ms, and most projects have no C.
    text = _C_MACROS
    for name, piece in _PIECES_OF_C.items():
        text = text.replace(name, piece)
    return re.compile(text, re.MULTILINE | re.VERBOSE)


# Macros where the grammar of C allows no name. Each branch that needs more than a word begins with a rare text, never
# backtracks and reads no further than brackets, a line or a few hundred bytes: time is linear.
_C_MACROS = rb"""
    //[^\n]*+                                       # passed over: comments, strings, directives, casts of values
  | /\*TO_END
  | "[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"
  | '(?:[^'\\\n]|\\.)'
  # A call of an operator by its name, behind what it is called of.
  | ((?:\.|->)\s*+(?>(?:template\s++)?)operator[ \t]*+[^\w\s();]{1,3}+)(?=\s*+\()
  | \boperator\s*+[^\w\s();]{1,3}+
  | (\[\[[^\[\]]*+\]\])(?=\s*+friend\b)
  | =\s*+\([^()]*+\)
  | \b(?:__attribute__|decltype(?![^;{}\n]{0,200}\.operator\b))\s*+ARGUMENTS
  # Around the type of a function: `API(void *) f(`, `DEPRECATED(3) API(void) f(`.
  | (?:^|(?<=\*/))[ \t]*+(?>(?:extern[ \t]++)?)(?:(MACRO|[A-Z]\w*+\([^()\n]*+\))[ \t]++)?
    (?<!\*\n)(_{0,2}[A-Z]\w*+[ \t]*+\()[ \t]*+[A-Za-z_][\w \t*]*+(\))
    (?=[ \t*]*+(?>(?:(MACRO)[ \t]++)?)NAME\s*+\(
      |[\s*]*+NAME\s*+ARGUMENTS(?>(?:\s*+ATTRIBUTE(?>(?:\s*+ARGUMENTS)?)){0,12})\s*+[;{])
  | ^[ \t]*+(?:
        \#(?:[^\n\\]++|\\\r?\n|\\.)*+
      # An access specifier: `PRIVATE_UNLESS_TESTED:`.
      | (SHOUT[ \t]*+:)[ \t]*+\r?$
      # Alone on a line: `NS_BEGIN`, `Q_OBJECT`, `ABI(1)`.
      | ([A-Z_][A-Z0-9_]{2,}+(?>(?:\((?:[^()\n]++|\([^()\n]*+\)|(?!))*+\))?))[ \t]*+(?://[^\n]*+|\r?$)(?!\s*+[{(,=);])
      # Before the type of a function: `API type_t f(`, `static INLINE type_t CALL f(`.
      | (?>(?:(?:extern|static|inline)[ \t]++){0,12})([A-Z_][A-Z0-9_]++)[ \t]++(?>(?:const[ \t]++)?)\w++
        (?=[\s*]++(?>(?:([A-Z_][A-Z0-9_]++)\s++)?)\w++[ \t]*+\()
    )
  # Behind a pointer's star: `char * API f(`, `int *RESTRICT p`, `typedef int *(CALL_P f)(`.
  | \*[ \t]*+(?>(?:\([ \t]*+)?)(MACRO)(?=\s++\w++(?:[ \t]*+[;,)=A-Z]|\s*+\())
  | \b(?:
        typedef[ \t]++\w++\([^()\n]*+\)
      # Between the keyword and the name of a type: `class EXPORT Name {`.
      | (?:class|struct|union|enum(?>(?:[ \t]++class)?))[ \t]++((?:SHOUT|[A-Z][A-Z0-9_]++)(?>(?:\([^()\n]*+\))?))
        (?=\s++[A-Za-z_]\w*+\s*+(?:<[^;{}()]{0,400}>\s*+)?(?>(?:final\b\s*+)?)(?:\{|:\s*+[A-Za-z_]))
      # Behind the name of a namespace: `namespace name VISIBILITY(default) {`.
      | namespace[ \t]++\w++[ \t]++(MACRO(?>(?:\([^()\n]*+\))?))(?=\s*+\{)
      # All that a type holds: `union { MEMBERS }`.
      | (?:struct|union)(?>(?:\s++\w++)?)\s*+\{\s*+(MACRO)(?=\s*+\})
      | (extern)\s++(?=template\b)
      # Behind a word that no type follows: `explicit INLINE f(`, `friend constexpr T f(`.
      | (?:explicit|friend)\s++((?>(?:(?:constexpr|inline|SHOUT)\s++){1,6}))(?=[\w~:])
      # In front of a block: `__try {`, `if INLINE (`.
      | ((?:__|[A-Z0-9_]*_)(?:try|TRY))(?=\s*+\{)
      | if\s++(SHOUT)(?=\s*+\()
      # Around parameters: `f OF((int a));`.
      | (?<=\w[ \t])([A-Z_]++[ \t]*+\()(?=\()ARGUMENTS\s*+(\))(?=\s*+;)
    )
  | \}\s*+((?:__|[A-Z0-9_]*_)(?:catch|CATCH)\s*+\([^(){};]*+\))(?=\s*+\{)
  # Between the type and the name of a function: `type DEPRECATED(1, "since") f(`.
  | (?<=[\w*&>][ \t])((?>(?:SHOUT[ \t]*+ARGUMENTS\s++){1,4}))(?=(?!__)NAME\s*+\()
  # The same: `void CALL_BACK f(`.
  | (?:(?<=\b(?:void|bool|char|long)[ \t])|(?<=\bint[ \t]))(SHOUT)(?=[ \t]++NAME[ \t]*+\()
  # Before what must begin a declaration or its type: `API void f();`, `API INLINE Type<int>& f(`, `API ~Type();`.
  | ((?>(?:SHOUT(?>(?:\([^(){};\n]*+\))?)\s++){1,6}))(?=
        (?:static|inline|virtual|explicit|constexpr|consteval|constinit|friend|extern|template
          |typename|namespace|class|struct|enum|union|using|typedef
          |void|bool|char|short|int|long|float|double|signed|unsigned|auto|decltype)\b
      | ~[ \t]*+\w
      | operator\s++(?!new\b|delete\b)\w
      | TYPE(?:\s*+[&*][\s&*]*+(?>(?:const\s++)?)|\s++)(?!SHOUT|KEYWORD)(?:\w|::|operator\b)
      | TYPE(?:\s*+[&*][\s&*]*+|\s++)operator\b
      | \w++\s*+ARGUMENTS\s*+(?>(?:(?:noexcept|SHOUT)\s*+)?):\s)
  # Behind parameters: `f(int) ATTRIBUTE __nonnull((1));`, but not `- (int)URL;`.
  | \)GAP(?>(?:(?:const|volatile|noexcept|override|final)\bGAP|&{1,2}+GAP){0,12})
    (?<!\))((?>(?:ATTRIBUTE(?>(?:[ \t]*+ARGUMENTS)?)GAP){1,12}))
    (?=\s*+(?:[;{]|:(?!\s*+\()|=\s*+(?:default|delete)\b|(?:requires|override|final|noexcept)\b)|(?<=\s)->)
  # All else is passed over in long steps: the branches above are not tried at each byte of it.
  | (?:\w++|PLAIN)(?>(?:PLAIN){0,1000})
"""
