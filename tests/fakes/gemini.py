"""A program that behaves as the Gemini CLI does in headless mode: events on standard output, ``@names`` looked up."""

import sys
from pathlib import Path
from textwrap import dedent

PROGRAM = """
    #!{python}
    import json, os, re, sys, time
    from pathlib import Path

    text = sys.stdin.read()
    found = [name for name in re.findall(r"@([\\w./-]+)", text) if list(Path().rglob("*" + name + "*"))]
    Path({seen!r}).write_text(json.dumps(dict(text=text, arguments=sys.argv[1:], found=found, folder=os.getcwd(),
                                              names=os.listdir(), mode=os.stat(".").st_mode & 0o777)))

    def say(**event):
        print(json.dumps(event), flush=True)

    print("a notice that is no event")
    say(type="init", model="gemini-3.5-flash")
    say(type="message", role="user", content=text)
    {body}
"""
ANSWERS = """
    say(type="message", role="assistant", content="Ye", delta=True)
    say(type="message", role="assistant", content="s.", delta=True)
    say(type="result", status="success", stats=dict(input_tokens=900, output_tokens=20, cached=512))
"""
REFUSES = """
    print("Please set an Auth method, key {key}", file=sys.stderr)
    sys.exit(41)
"""
HANGS = "time.sleep(600)"


def install(folder: Path, body: str) -> Path:
    """Write the program into ``folder`` and return it; what it saw goes to ``seen.json`` beside it."""
    folder.mkdir(exist_ok=True)
    program = folder / "gemini"
    text = dedent(PROGRAM).format(
        python=sys.executable, seen=str(folder / "seen.json"), body=dedent(body).strip()
    )  # fmt: skip
    program.write_text(text.lstrip("\n"), encoding="utf-8")
    program.chmod(0o755)
    return program
