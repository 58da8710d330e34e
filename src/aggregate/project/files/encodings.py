"""Decode text in its declared or likeliest encoding."""

import codecs
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Searched for declarations: browsers read 1,024 bytes, Vim and Emacs also the end of a file.
_TOP_BYTES: Final = 1024
_END_BYTES: Final = 3000
_DECLARATIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        rb"\A(?:[^\n\r]*[\n\r]+)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)",  # PEP 263, Ruby
        rb"-\*-.*?coding:[ \t]*([-\w.]+).*-\*-",  # Emacs
        rb"\A\s*<\?xml\b[^>]*\bencoding\s*=\s*[\"']([-\w.:]+)",
        rb"\A@charset\s+[\"']([-\w.]+)",
        rb"\bcharset\s*=\s*[\"']?([-\w.:]+)",  # HTML, and headers of message catalogues
        rb"\[(\w+)\]\{inputenc\}",  # LaTeX
    )
)
_MODELINE: Final = re.compile(
    rb"(?:^|\s)(?:vim?|ex):.*?\b(?:fileencoding|fenc)=([-\w.]+)"
    rb"|^[^\n]*Local Variables:(?:[^\n]*\n)+?[^\n\w]*coding:[ \t]*([-\w.]+)",
    re.IGNORECASE | re.MULTILINE,
)
_EDITORS_SUFFIX: Final = re.compile(r"-(?:unix|dos|mac)$")
# Codecs for other purposes than files, and those contradicting a declaration in ASCII.
_NO_CHARSETS: Final = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"}
)
_NO_CHARSET: Final = re.compile(r"utf[-_]?(?:7|16|32)")
# Supersets in use under the narrower name (WHATWG Encoding Standard, 4.2).
_SUPERSETS: Final = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_WESTERN: Final = "cp1252"
_CENTRAL_EUROPEAN: Final = "cp1250"
_CANDIDATES: Final = (
    _WESTERN, "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253",
    _CENTRAL_EUROPEAN, "cp1255", "cp1256", "cp874",
)  # fmt: skip
_CENTRAL_LANGUAGES: Final = frozenset(
    {"Croatian", "Czech", "Hungarian", "Polish", "Slovak", "Slovene"}
)
# Misread Hebrew looks like Kazakh, whose letters no candidate has.
_NEVER_WRITTEN_SO: Final = frozenset({"Kazakh"})
_HIGH_RUN: Final = re.compile(rb"[\x80-\xff]+")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROLS: Final = 0.005  # share in a text; random bytes have a tenth
_MOST_HIGH: Final = 0.4  # share of high bytes in a text in no recognised language
# Signs and letters of Western languages.
_TYPOGRAPHY: Final = frozenset("‘’‚“”„†‡•…–—™©®°§¶·±²³µ¼½¾×«»€£¥¢\xa0\xad")
_LETTERS: Final = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœ¡¿ªº")
_AFTER_DIGIT: Final = re.compile(r"\d[À-ÿ]")  # a degree sign in another code page
_ISOLATED: Final = 0.7  # least share of single bytes among runs of high bytes in a Western text
_CERTAIN_RUNS: Final = 3  # with fewer, an encoding is a guess
_FEW_RUNS: Final = 12  # with fewer, Central European letters count as Western
_SAMPLE: Final = 20_000  # bytes used for a guess
_MOST_CHAOS: Final = 5.0  # percent of unlikely characters in a recognised encoding


class Decoded(NamedTuple):
    """A decoded text with its encoding."""

    text: str
    encoding: str
    is_guess: bool = False  # nothing confirms the encoding


def declared_text(data: bytes) -> Decoded | None:
    """Decode a text in the encoding that it declares itself, ``None`` if that fails."""
    for name in _declared_names(data):
        try:
            codec = codecs.lookup(_EDITORS_SUFFIX.sub("", name))
            b"".decode(codec.name)  # raises for codecs from bytes to bytes
        except (LookupError, ValueError):
            continue
        if codec.name in _NO_CHARSETS or _NO_CHARSET.fullmatch(codec.name):
            continue
        text = _strictly(data, codec.name)
        # C1 controls are really quotes and dashes of the superset.
        if text is None or re.search("[\x80-\x9f]", text):
            superset = _SUPERSETS.get(codec.name, codec.name)
            wider = _strictly(data, superset)
            if wider is not None:
                return Decoded(wider, superset)
        if text is not None:
            return Decoded(text, codec.name)
    return None


def _declared_names(data: bytes) -> Iterator[str]:
    top, end = data[:_TOP_BYTES], data[-_END_BYTES:]
    for pattern in _DECLARATIONS:
        if match := pattern.search(top):
            yield match[1].decode("ascii", "replace").lower()
    for part in (top, end):
        for match in _MODELINE.finditer(part):
            yield (match[1] or match[2]).decode("ascii", "replace").lower()


def guessed_text(data: bytes) -> Decoded | None:
    """Decode a text in the likeliest encoding.

    Returns ``None`` if the data are probably not text. Tries UTF-8 with a few broken bytes, then windows-1252 for
    typical Western texts, then other encodings if a language is recognised.
    """
    if len(_CONTROL.findall(data)) > _MOST_CONTROLS * len(data):
        return None
    high = sum(map(len, _HIGH_RUN.findall(data)))
    broken = Decoded(data.decode("utf-8", "replace"), "utf-8", is_guess=True)
    if high > 3 * broken.text.count("\ufffd"):  # mostly valid UTF-8
        return broken
    sample = b"\n".join(line for line in data.splitlines() if not line.isascii())[:_SAMPLE]
    runs = _HIGH_RUN.findall(sample)
    if sum(len(run) == 1 for run in runs) >= _ISOLATED * len(runs):
        return _western(data, sample, len(runs))
    if encoding := _recognised(sample):
        text = _strictly(data, encoding)
        if text is not None:
            return Decoded(text, encoding, is_guess=len(runs) < _CERTAIN_RUNS)
    # An unknown script: missing characters are better than wrong ones.
    return broken if high <= _MOST_HIGH * len(data) else None


def _western(data: bytes, sample: bytes, runs: int) -> Decoded:
    text = data.decode(_WESTERN, "replace")
    signs = {character for character in text if character > "\x7f"}
    if signs <= _TYPOGRAPHY:
        return Decoded(text, _WESTERN)
    if runs >= _FEW_RUNS and _recognised(sample) == _CENTRAL_EUROPEAN:
        central = _strictly(data, _CENTRAL_EUROPEAN)
        if central is not None and central != text:
            return Decoded(central, _CENTRAL_EUROPEAN)
    is_usual = signs <= _TYPOGRAPHY | _LETTERS and not _AFTER_DIGIT.search(text)
    return Decoded(text, _WESTERN, is_guess=not is_usual or runs < _CERTAIN_RUNS)


def _recognised(sample: bytes) -> str:
    """Return the likeliest encoding of a text, ``""`` if none fits."""
    from charset_normalizer import from_bytes  # 16 ms, needed by few projects

    matches = [
        match
        for match in from_bytes(sample, cp_isolation=[*_CANDIDATES])
        if match.language not in _NEVER_WRITTEN_SO
    ]
    if not matches or matches[0].percent_chaos > _MOST_CHAOS:
        return ""
    best = matches[0]
    if best.encoding == _CENTRAL_EUROPEAN:
        is_western = any(match.encoding == _WESTERN for match in matches)
        return "" if is_western or best.language not in _CENTRAL_LANGUAGES else best.encoding
    return best.encoding


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except ValueError:
        return None
