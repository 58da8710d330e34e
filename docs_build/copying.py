"""What the button of an example copies: the commands alone, without prompts and without what they print."""

import html
import re

_EXAMPLE = re.compile(
    r'<div class="language-console highlight">(?P<block><pre>.*?</pre>)</div>', re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")
_PROMPT = "$ "


def copy_commands_only(page: str) -> str:
    """Return a page of the site on which each example of ``console`` is copied as its commands.

    The theme's button takes the attribute ``data-copy`` where there is one, and else all that is shown: the prompts,
    which no shell understands, and the output.
    """
    return _EXAMPLE.sub(_with_commands, page)


def _with_commands(example: re.Match[str]) -> str:
    text = html.unescape(_TAG.sub("", example["block"]))
    commands = "\n".join(
        line.removeprefix(_PROMPT) for line in text.splitlines() if line.startswith(_PROMPT)
    )
    copied = html.escape(commands).replace("\n", "&#10;")
    return f'<div class="language-console highlight" data-copy="{copied}">{example["block"]}</div>'
