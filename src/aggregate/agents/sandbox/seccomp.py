"""The kernel's calls that a JavaScript worker may not make: a seccomp filter, as the program that the kernel runs.

QuickJS makes none of them: a hole in it would. The numbers are the kernel's and never change; a machine that is not in
``MACHINES`` has no filter.
"""

import struct
from typing import Final

_LOAD, _JUMP_EQUAL, _JUMP_FROM, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # where a call's number and its machine are
ALLOW: Final = 0x7FFF0000
KILL: Final = 0x80000000
NOT_PERMITTED: Final = 0x00050000 | 1
NOT_KNOWN: Final = 0x00050000 | 38
# The last call of the table; newer ones are answered as by an older kernel, which every library expects.
LAST: Final = 450
# How families of processors name themselves, and the column of their numbers in ``REFUSED``.
MACHINES: Final = {
    "x86_64": (0xC000003E, 0),
    "aarch64": (0xC00000B7, 1),
    "riscv64": (0xC00000F3, 1),
    "loongarch64": (0xC0000102, 1),
}

_CALLS: Final = """
# The kernel's keyrings belong to the user's session, not to a namespace.
add_key 248 217, request_key 249 218, keyctl 250 219
# New namespaces give the rights of root inside them, and with these most of the kernel.
unshare 272 97, setns 308 268, chroot 161 51, pivot_root 155 41, mount 165 40, umount2 166 39, open_tree 428 428,
move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442
# More processes and threads, and other programs.
fork 57 -, vfork 58 -, clone 56 220, clone3 435 435, execve 59 221, execveat 322 281
# Other processes.
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
process_mrelease 448 448, pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, kcmp 312 272
# Sockets.
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201
# Memory that no limit of a process counts: it outlives its mapping, or hangs on pages inside a pipe.
shmget 29 194, shmat 30 196, shmctl 31 195, msgget 68 186, semget 64 190, mq_open 240 180, memfd_create 319 279,
memfd_secret 447 447, splice 275 76, tee 276 77, vmsplice 278 75, mlock 149 228, mlock2 325 284, mlockall 151 230,
flock 73 32, inotify_init 253 -, inotify_init1 294 26, fanotify_init 300 262
# Large parts of the kernel that a script has no use for, and where most of its holes were.
bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426,
io_uring_register 427 427, io_setup 206 0, seccomp 317 277, modify_ldt 154 -, personality 135 92, quotactl 179 60,
quotactl_fd 443 443, name_to_handle_at 303 264, open_by_handle_at 304 265, lookup_dcookie 212 18,
move_pages 279 239, migrate_pages 256 238, mbind 237 235, set_mempolicy 238 237
# The machine itself; each also needs rights that the code does not have.
kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106,
reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, syslog 103 116, settimeofday 164 170,
clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, sethostname 170 161, setdomainname 171 162,
iopl 172 -, ioperm 173 -, vhangup 153 58
"""
_ROWS: Final = [line.strip(",") for line in _CALLS.splitlines() if line and line[0] != "#"]
# Name to its number on x86-64, and on the processors with the common table.
REFUSED: Final = {
    name: tuple(None if number == "-" else int(number) for number in numbers)
    for name, *numbers in map(str.split, ", ".join(_ROWS).split(", "))
}


def seccomp_filter(machine: str) -> bytes:
    """Return the filter for a machine as ``platform.machine()`` names it, nothing for one that is not known."""
    if machine not in MACHINES:
        return b""
    architecture, column = MACHINES[machine]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL),
    ]
    # Numbers from LAST on hold also those of the x32 calls, which are the same ones by other names.
    program += [(_LOAD, 0, 0, _NUMBER), (_JUMP_FROM, 0, 1, LAST + 1), (_RETURN, 0, 0, NOT_KNOWN)]
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, NOT_PERMITTED)]
    program.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in program)
