"""A Postgres server of the tests' own, in a temporary folder, from the distribution's packages."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import sqlalchemy as sa

HOW_TO_GET_IT = "no Postgres server here: apt-get install -y postgresql"


def find_programs() -> Path | None:
    """Return the folder of ``initdb`` and ``pg_ctl``, ``None`` where they are not installed."""
    initdb = shutil.which("initdb")
    folders = [Path(initdb).resolve().parent] if initdb else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    programs = ("initdb", "pg_ctl")
    return next((one for one in folders if all((one / name).exists() for name in programs)), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server that only this machine's user can reach, through a socket, and yield its URL."""
    programs = find_programs()
    assert programs is not None
    folder = Path(mkdtemp(prefix="pg-"))  # a socket's path must be short, so not pytest's
    try:
        if user := _server_user():
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        _run(programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        _run(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            _run(programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def outage(url: str) -> Iterator[None]:
    """Let the server of ``url`` be out of reach while the block runs, and end all connections to its database."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    socket = Path(str(engine.url.query["host"])) / ".s.PGSQL.5432"
    with engine.connect() as connection:
        socket.rename(socket.with_suffix(".away"))
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(
            sa.text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        )
        try:
            yield
        finally:
            socket.with_suffix(".away").rename(socket)
    engine.dispose()


def _server_user() -> pwd.struct_passwd | None:
    """Return the user to run the server as, which refuses to run as root; ``None`` for oneself."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    return names.get("postgres") or names["nobody"]


def _run(*command: str | Path) -> None:
    user = _server_user()
    # Not captured by a pipe: the server inherits it, and reading would wait until the server ends.
    done = subprocess.run(
        [*map(str, command)],
        user=user.pw_uid if user else None,
        group=user.pw_gid if user else None,
        extra_groups=[] if user else None,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    assert done.returncode == 0, command
