"""Ways out of the sandbox for full Python, each a piece of code that leaves what it reached in ``got``.

``play`` runs all of them in one sandbox, one after the other, and says how each ended: with the exception's name, or
with ``got`` itself.
"""

from typing import Final

CTYPES: Final = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
"""Calls of the kernel by hand; a refused one raises the error that the kernel gave."""
SYSCALL: Final = (
    CTYPES
    + """
def call(number, *given):
    answer = libc.syscall(number, *given)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer
def either(of_x86, of_others, *given):
    return call(of_x86 if os.uname().machine == 'x86_64' else of_others, *given)
"""
)

NOTHING_THERE: Final = {
    "read the password file": "got = open('/etc/passwd').read()",
    "list the home folder": "import os\ngot = os.listdir('/home')",
    "read root's files": "import os\ngot = os.listdir('/root/.ssh')",
    "read the bus of the system": "import os\ngot = os.stat('/run/dbus/system_bus_socket')",
    "read the memory of itself": "got = open('/proc/self/mem', 'rb').read(1)",
    "read the environment of the first process": "got = open('/proc/1/environ').read()",
    "read the descriptors of the first process": "import os\ngot = os.listdir('/proc/1/fd')",
    "read the kernel's keys": "got = open('/proc/keys').read()",
    "read the kernel's settings": "import os\ngot = os.listdir('/proc/sys/kernel')",
    "read the hardware": "import os\ngot = os.listdir('/sys/class')",
    "read control groups": "import os\ngot = os.listdir('/sys/fs/cgroup')",
    "read the disk": "got = open('/dev/sda', 'rb').read(1)",
    "read the console": "got = open('/dev/tty').read()",
    "open a terminal": "import pty\ngot = pty.openpty()",
    "use shared memory by name": "import os\ngot = os.open('/dev/shm/x', os.O_CREAT | os.O_RDWR)",
    "use the kernel's fuse": "import os\ngot = os.open('/dev/fuse', os.O_RDWR)",
    "use virtual machines": "import os\ngot = os.open('/dev/kvm', os.O_RDWR)",
    "leave by the working folder": "import os\nos.chdir('/scratch/../..')\ngot = os.listdir('etc')",
    "leave by a link in a readable folder": (
        "import glob, os\n"
        "links = [p for p in glob.glob('/usr/*/*') if os.path.islink(p)]\n"
        "got = [p for p in links if os.path.exists(p) and not os.path.realpath(p).startswith(\n"
        "    ('/usr', '/lib', '/bin', '/sbin', '/dev'))]\n"
        "assert got, 'no link leads out'"
    ),
    "find a set-uid program that still is one": (
        "import os\ngot = os.statvfs('/usr').f_flag & os.ST_NOSUID\nassert not got, 'programs give no rights'"
    ),
}

NOTHING_WRITTEN: Final = {
    "write a library": "import json\nopen(json.__file__, 'a').write('x')",
    "write a program": "import os\ngot = os.open('/usr/bin/x', os.O_CREAT | os.O_WRONLY)",
    "write in the scratch folder": "got = open('/scratch/x', 'w')",
    "make folders without end": "import os\ngot = os.mkdir('/scratch/x')",
    "make a folder at the root": "import os\ngot = os.mkdir('/x')",
    "make a folder among devices": "import os\ngot = os.mkdir('/dev/x')",
    "make a link": "import os\ngot = os.symlink('/etc', '/scratch/x')",
    "make a device": "import os, stat\ngot = os.mknod('/scratch/x', stat.S_IFBLK | 0o600, os.makedev(8, 0))",
    "make a temporary file": "import tempfile\ngot = tempfile.TemporaryFile()",
    "make a pipe with a name": "import os\ngot = os.mkfifo('/scratch/x')",
    "change a mode": "import os\ngot = os.chmod('/scratch', 0o777)",
    "set an attribute": "import os\ngot = os.setxattr('/scratch', 'user.x', b'x' * 60000)",
}

NOTHING_STARTED: Final = {
    "fork": "import os\ngot = os.fork()",
    "fork by hand": SYSCALL + "got = call(57) if os.uname().machine == 'x86_64' else call(220, 17)",
    "clone a process by hand": SYSCALL + "got = either(56, 220, 17, 0, 0, 0, 0)",
    "clone by the newest call": SYSCALL + "got = call(435, 0, 0)",
    "spawn": "import os\ngot = os.posix_spawn('/bin/true', ['true'], {})",
    "run a program": "import subprocess\ngot = subprocess.run(['/bin/true'])",
    "run a shell": "import os\ngot = os.system('true')\nassert got == 0, 'not run'",
    "use a pool of processes": "import multiprocessing\ngot = multiprocessing.Pool(2)",
    "leave a daemon": "import os\nif os.fork() == 0:\n    os.setsid()\ngot = 1",
    "kill the first process": "import os, signal\nos.kill(1, signal.SIGKILL)\nos.kill(1, 0)\nassert False, 'it lives'",
    "kill the host": "import os\ngot = os.kill(os.getppid() or 999999, 9)\nassert os.getppid() == 1, 'no parent'\n"
    "assert False, 'the parent is the first process in here, which cannot be killed'",
    "trace the first process": SYSCALL + "got = either(101, 117, 16, 1, 0, 0)",
    "read the first process's memory": SYSCALL + "got = either(310, 270, 1, 0, 0, 0, 0, 0)",
    "take a descriptor of the first process": SYSCALL + "got = call(438, call(434, 1, 0), 0, 0)",
}

NOTHING_REACHED: Final = {
    "connect to this machine": "import socket\ngot = socket.create_connection(('127.0.0.1', 22), 1)",
    "connect to a name": "import socket\ngot = socket.create_connection(('example.org', 80), 1)",
    "listen": "import socket\ngot = socket.create_server(('127.0.0.1', 0))",
    "send a packet": "import socket\ngot = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "connect to a local socket": "import socket\ns = socket.socket(socket.AF_UNIX)\ngot = s.connect('/run/x')",
    "connect to an abstract socket": "import socket\ns = socket.socket(socket.AF_UNIX)\ngot = s.connect('\\0x')",
    "talk to the machine around this one": "import socket\ngot = socket.socket(40, socket.SOCK_STREAM)",
    "talk to the kernel's network": "import socket\ngot = socket.socket(16, socket.SOCK_RAW, 0)",
    "use the kernel's ciphers": "import socket\ngot = socket.socket(38, socket.SOCK_SEQPACKET)",
    "read raw packets": "import socket\ngot = socket.socket(17, socket.SOCK_RAW)",
    "make a pair of network sockets": "import socket\ngot = socket.socketpair(30, socket.SOCK_STREAM)",
    "look a name up": "import socket\ngot = socket.gethostbyname('example.org')",
}

NOTHING_GAINED: Final = {
    "read the session's keys": SYSCALL + "got = either(250, 219, 11, -3, 0, 0)",
    "join the session's keys": SYSCALL + "got = either(250, 219, 1, 0)",
    "add a key": SYSCALL + "got = either(248, 217, b'user', b'x', b'y', 1, -3)",
    "ask for a key": SYSCALL + "got = either(249, 218, b'user', b'x', 0, -3)",
    "make a user namespace": SYSCALL + "got = either(272, 97, 0x10000000)",
    "enter a namespace": SYSCALL + "got = either(308, 268, 0, 0)",
    "mount": SYSCALL + "got = either(165, 40, b'x', b'/scratch', b'tmpfs', 0, 0)",
    "mount by the new calls": SYSCALL + "got = call(430, b'tmpfs', 0)",
    "change the root": "import os\ngot = os.chroot('/usr')",
    "become root": "import os\ngot = os.setuid(0)",
    "become another group": "import os\ngot = os.setgroups([0])",
    "make a ring of calls": SYSCALL + "got = call(425, 8, ctypes.create_string_buffer(120))",
    "load a program into the kernel": SYSCALL + "got = either(321, 280, 0, 0, 0)",
    "measure the processor": SYSCALL + "got = either(298, 241, 0, 0, 0, 0, 0)",
    "handle page faults": SYSCALL + "got = either(323, 282, 0)",
    "set the clock": "import time\ngot = time.clock_settime(time.CLOCK_REALTIME, 0)",
    "set the name of the machine": "import socket\ngot = socket.sethostname('x')",
    "raise the limit of memory": "import resource as r\ngot = r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY,) * 2)",
    "raise the limit of files": "import resource as r\ngot = r.setrlimit(r.RLIMIT_FSIZE, (1 << 30,) * 2)",
    "raise a limit of the first process": "import resource as r\ngot = r.prlimit(1, r.RLIMIT_NOFILE, (1 << 20,) * 2)",
    "open many files": (
        "import os\ngot = []\ntry:\n    while True:\n        got.append(os.dup(0))\n"
        "finally:\n    for number in got:\n        os.close(number)\n"
    ),
    "be first in the queue": "import os\ngot = os.nice(-10)",
    "keep memory outside of the process": "import os\ngot = os.memfd_create('x')",
    "keep memory of the system": SYSCALL + "got = either(29, 194, 0, 1 << 26, 0o1666)",
    "keep messages of the system": SYSCALL + "got = either(68, 186, 0, 0o1666)",
    "keep pages in a pipe": SYSCALL
    + "got = either(278, 75, 1, ctypes.create_string_buffer(16), 1, 0)",
    "lock memory": CTYPES + "got = libc.mlockall(3)\nassert got == 0, 'not locked'",
    "keep memory in a shared mapping": "import mmap\ngot = mmap.mmap(-1, 1 << 31)",
    "keep memory in an array": "got = bytearray(1 << 31)",
    "type into a terminal": "import fcntl\ngot = fcntl.ioctl(0, 0x5412, b'x')",
    "find descriptors of the host": (
        "import os\n"
        "def kind(n):\n"
        "    try:\n"
        "        return os.fstat(n).st_rdev or 'pipe'\n"
        "    except OSError:\n"
        "        return None\n"
        "null = os.stat('/dev/null').st_rdev\n"
        "got = [n for n in range(64) if kind(n) not in (None, null)][1:]\n"
        "assert got, 'nothing but the pipe of the answer'"
    ),
    "read the settings of the machine's programs": (
        "import os\ngot = [n for f in ('/usr/etc', '/usr/local/etc') if os.path.isdir(f) for n in os.listdir(f)]\nassert got"
    ),
    "lock a library": "import fcntl, json, os\ngot = fcntl.flock(os.open(json.__file__, 0), 2)",
    "lock a part of a library": "import fcntl, json, os\ngot = fcntl.lockf(os.open(json.__file__, 0), 1)",
    "lease a library": "import fcntl, json, os\ngot = fcntl.fcntl(os.open(json.__file__, 0), 1024, 0)",
    "watch a folder of libraries": "import fcntl, os\ngot = fcntl.fcntl(os.open('/usr/bin', 0), 1026, 1)",
    "make a pipe larger": "import fcntl, os\ngot = fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)",
    "see the host's clock": "import time\ngot = time.clock_gettime(0)\nassert got != time.time()",
    "find the host's environment": (
        "import os\ngot = set(os.environ) - {'PYTHONPATH', 'PYTHONHASHSEED', 'OPENBLAS_NUM_THREADS', 'PWD', 'LC_CTYPE'}\n"
        "assert got, 'nothing'"
    ),
    "use the 32-bit calls": (
        SYSCALL + "got = call(0x40000000 | 39)"  # getpid by another name
    ),
}

ESCAPES: Final = {
    **NOTHING_THERE,
    **NOTHING_WRITTEN,
    **NOTHING_STARTED,
    **NOTHING_REACHED,
    **NOTHING_GAINED,
}

PLAY: Final = """
import builtins
result = {}
for name, code in data.items():
    names = {'__builtins__': builtins, 'got': None}
    try:
        builtins.exec(code, names)
        result[name] = ['REACHED', repr(names['got'])[:200]]
    except BaseException as error:
        result[name] = [type(error).__name__, str(error)[:200]]
"""
