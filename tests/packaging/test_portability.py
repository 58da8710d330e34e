"""What other systems would find, as far as it can be told on this one."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import aggregate
from aggregate.project.paths import is_secret
from tests.cli.command_line import program_environment
from tests.projects import project

PACKAGE = Path(aggregate.__file__).parent
POSIX_MODULES = "fcntl grp posix pty pwd readline resource syslog termios tty"
_NAMES_ONE = re.compile(
    rf"^\s*(?:import|from) (?:{POSIX_MODULES.replace(' ', '|')})\b", re.MULTILINE
)
POSIX_NAMES = {
    "os": {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fchmod", "fchown", "fork", "geteuid",
        "getloadavg", "getpgid", "getuid", "killpg", "mkfifo", "nice", "pread", "sched_getaffinity",
        "setsid", "sysconf", "uname",
    },
    "signal": {
        "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGWINCH",
        "alarm", "pthread_sigmask", "setitimer",
    },
    "select": {"poll", "epoll", "POLLIN", "POLLOUT"},
    "socket": {"AF_UNIX", "socketpair_unix"},
}  # fmt: skip
"""What Windows lacks; of select it has only the function of that name."""

IMPORT_ALL = """
import builtins, importlib, sys
missing = set(sys.argv[1].split())
real = builtins.__import__
def without(name, globals=None, locals=None, fromlist=(), level=0):
    importer = str((globals or {}).get("__name__", ""))
    if importer.split(".")[0] == "aggregate" and not level and name.split(".")[0] in missing:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return real(name, globals, locals, fromlist, level)
builtins.__import__ = without
for module in sys.argv[2:]:
    importlib.import_module(module)
print("all")
"""
SLOW = pytest.mark.slow


def _sources() -> dict[str, str]:
    """Return the texts of our modules by their places."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in paths}


@pytest.mark.parametrize("names_one", [True, pytest.param(False, marks=SLOW)])
def test_no_module_needs_posix_to_be_imported(names_one: bool) -> None:
    """Where modules of POSIX cannot be imported, those of ours that name one can, and so can all others."""
    modules = [
        f"aggregate.{place.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        for place, text in _sources().items()
        if place != "__init__.py" and bool(_NAMES_ONE.search(text)) >= names_one
    ]
    assert modules
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, POSIX_MODULES, *modules],
        capture_output=True,
        timeout=120,
    )
    assert done.stdout == b"all\n", done.stderr.decode()[-1000:]


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a module is imported; bodies of functions do not."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            arguments = [*child.args.defaults, *filter(None, child.args.kw_defaults)]
            for default in arguments:
                yield from ast.walk(default)
        else:
            yield child
            yield from _at_import(child)


def test_no_module_asks_for_what_windows_lacks() -> None:
    """Names of POSIX are asked for within functions, and text is read and written in an encoding and line breaks of ours."""
    faults = []
    for place, text in _sources().items():
        if not _MAY_ASK.search(text):
            continue
        tree = ast.parse(text)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        faults += [f"{place}:{call.lineno} text" for call in calls if _is_of_the_system(call)]
        names = (
            (node.lineno, node.value.id, node.attr)
            for node in _at_import(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        )
        faults += [
            f"{place}:{line} {module}.{name}"
            for line, module, name in names
            if name in POSIX_NAMES.get(module, ())
        ]
    assert faults == []


_MAY_ASK = re.compile(r"open\(|write_text\(|\b(?:" + "|".join(POSIX_NAMES) + r")\.\w")
"""What a module holds that :func:`test_no_module_asks_for_what_windows_lacks` could find a fault in."""


def _is_of_the_system(call: ast.Call) -> bool:
    """Tell whether a call opens a text file in the system's own way."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg for keyword in call.keywords}
    if name == "write_text":
        return not {"encoding", "newline"} <= given
    if name not in ("open", "fdopen") or _owner(call) in ("os", "tarfile", "zipfile", "webbrowser"):
        return name == "fdopen" and not _is_binary(call) and "encoding" not in given
    if not call.args and name == "open" and not given & {"mode", "encoding"}:
        return False  # a method of ours without a mode
    return any(
        isinstance(argument, ast.Constant) and str(argument.value) in MODES
        for argument in call.args
    ) and not ({"encoding", "newline"} <= given)


MODES = {"w", "x", "a", "wt", "xt", "at", "w+", "a+"}


def _owner(call: ast.Call) -> str:
    value = call.func.value if isinstance(call.func, ast.Attribute) else None
    return value.id if isinstance(value, ast.Name) and call.func.attr == "open" else ""  # type: ignore[attr-defined]


def _is_binary(call: ast.Call) -> bool:
    return any(
        isinstance(argument, ast.Constant) and "b" in str(argument.value) for argument in call.args
    )


RUN_TWICE = """
import sys
from aggregate import main
for arguments in (["run"], ["run", "--stdout"]):
    sys.argv = ["aggregate", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


@pytest.mark.parametrize(
    "encoding", ["cp1252", pytest.param("cp437", marks=SLOW), pytest.param("ascii", marks=SLOW)]
)
def test_a_console_that_knows_few_characters_is_enough(tmp_path: Path, encoding: str) -> None:
    """With the code pages of Windows consoles every text is printed somehow, and a prompt keeps its bytes."""
    folder = project(
        tmp_path,
        {
            "größe 日本.py": "größe = '日本 🚀'\n",
            "manual_slop.toml": '[files]\npaths = ["*.py", "fehlt ☃.py"]\n',
        },
    )
    environment = program_environment(folder) | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", RUN_TWICE],
        cwd=folder, env=environment, capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr
    assert "größe = '日本 🚀'\n" in done.stdout.decode("utf-8")
    assert b"\r" not in (folder / "md_gen" / f"{folder.name}_001.md").read_bytes()


@pytest.mark.parametrize("name", [".ENV", "ID_RSA", ".Aws/Credentials", "Secrets.KDBX"])
def test_secrets_are_known_in_any_case(name: str) -> None:
    """Where a file system knows no case, another case is the same file."""
    assert is_secret(name)


def test_line_breaks_of_windows_stay_in_files_and_matter_to_nobody(tmp_path: Path) -> None:
    """A file with CRLF has the views, symbols and slices of the same file with LF."""
    source = "def area(r: float) -> float:\n    return 3 * r * r\n\n\ndef other() -> None: ...\n"
    config = '[files]\npaths = [{ path = "a.py", view_mode = "skeleton" }]\n'
    prompts = []
    for line_break in ("\n", "\r\n"):
        folder = tmp_path / f"{len(line_break)}"
        folder.mkdir()
        (folder / "a.py").write_bytes(source.replace("\n", line_break).encode())
        (folder / "manual_slop.toml").write_bytes(config.replace("\n", line_break).encode())
        prompts.append(aggregate.run(folder / "manual_slop.toml")[0])
    assert prompts[0] == prompts[1].replace("\r\n", "\n")
    assert "return 3" not in prompts[1]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such names")
def test_names_as_macos_spells_them_are_their_own(tmp_path: Path) -> None:
    """A name in decomposed characters is read by that name, and shown by it."""
    decomposed = "gro\u0308sse.py"
    folder = project(
        tmp_path, {decomposed: "a = 1\n", "manual_slop.toml": '[files]\npaths = ["*.py"]\n'}
    )
    markdown, _, items = aggregate.run(folder / "manual_slop.toml")
    assert [item["path"] for item in items] == [decomposed]
    assert "a = 1" in markdown
