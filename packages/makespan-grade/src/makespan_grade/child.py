"""Run by ``sandbox``: takes away what a function must not do, calls it, and tells what it returned.

It imports nothing of makespan: it starts in a moment, and a function finds nothing to change.
"""

import ctypes
import json
import os
import platform
import resource
import struct
import sys
import traceback
from typing import Any

NUMBERS: dict[
    str, tuple[int, int | None]
] = {  # of system calls that are refused, x86_64 and aarch64
    **{"socket": (41, 198), "socketpair": (53, 199), "connect": (42, 203), "bind": (49, 200)},
    **{"fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281)},
    **{"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138)},
    **{"rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"prlimit64": (302, 261), "setrlimit": (160, 164), "io_uring_setup": (425, 425)},
    **{"bpf": (321, 280), "mount": (165, 40), "umount2": (166, 39), "unshare": (272, 97)},
    **{"setns": (308, 268), "reboot": (169, 142), "memfd_create": (319, 279), "shmget": (29, 194)},
    **{"creat": (85, None), "truncate": (76, 45), "rename": (82, None), "renameat": (264, 38)},
    **{"renameat2": (316, 276), "unlink": (87, None), "unlinkat": (263, 35), "rmdir": (84, None)},
    **{"mkdir": (83, None), "mkdirat": (258, 34), "mknod": (133, None), "mknodat": (259, 33)},
    **{"link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36)},
    **{"chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452)},
    **{"chown": (92, None), "fchown": (93, 55), "fchownat": (260, 54), "lchown": (94, None)},
    **{"setxattr": (188, 5), "utimensat": (280, 88), "openat2": (437, 437), "chroot": (161, 51)},
    **{
        "setuid": (105, 146),
        "setgid": (106, 144),
        "settimeofday": (164, 170),
        "setsid": (112, 157),
    },
}
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
OPENING: dict[str, tuple[tuple[int, int | None], int]] = {
    "open": ((2, None), 24),
    "openat": ((257, 56), 32),
}  # and where their flags are
CLONE, CLONE3 = (56, 220), (435, 435)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
THREAD = 0x10000
REFUSED = "the network, other processes and files are out of reach"
ALLOW, REFUSE, MISSING, KILL = 0x7FFF0000, 0x50001, 0x50026, 0x80000000
LOAD, EQUAL, ANY, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
READ = 0b1101  # of Landlock: execute, read a file, list a folder
FILES_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many there are, by the version of Landlock
READABLE = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/urandom")


def libc() -> ctypes.CDLL:
    """Return the C library."""
    return ctypes.CDLL(None, use_errno=True)


def refuse_calls() -> None:
    """Let the system refuse sockets, processes, signals and writing, for good (seccomp)."""
    arch, column = MACHINES[platform.machine()]
    code = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    code += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]  # the 32-bit doors
    for numbers in NUMBERS.values():
        number = numbers[column]
        if number is not None:
            code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    code += [(EQUAL, 0, 1, CLONE3[column]), (RETURN, 0, 0, MISSING)]  # then clone is tried
    code += [(EQUAL, 0, 4, CLONE[column]), (LOAD, 0, 0, 16), (ANY, 0, 1, THREAD)]
    code += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    for numbers, flags in OPENING.values():
        number = numbers[column]
        if number is not None:
            code += [(EQUAL, 0, 4, number), (LOAD, 0, 0, flags), (ANY, 0, 1, WRITING)]
            code += [(RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    code.append((RETURN, 0, 0, ALLOW))
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    program = struct.pack("HxxxxxxP", len(code), ctypes.addressof(filters))
    if libc().prctl(38, 1, 0, 0, 0) or libc().prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the system allows no filter of system calls")


def hide_files() -> None:
    """Show no files but those of Python and the system (Landlock, where the kernel has it)."""
    calls = libc()
    version = calls.syscall(444, None, 0, 1)
    if version < 1:
        return
    rights = struct.pack("Q", (1 << FILES_RIGHTS.get(version, 16)) - 1)
    rules = calls.syscall(444, rights, len(rights), 0)
    for path in {*READABLE, sys.prefix, sys.base_prefix}:
        if os.path.exists(path):
            handle = os.open(path, os.O_PATH)
            allowed = READ if os.path.isdir(path) else READ & 0b101
            calls.syscall(445, rules, 1, struct.pack("=Qi", allowed, handle), 0)
            os.close(handle)
    calls.prctl(38, 1, 0, 0, 0)
    calls.syscall(446, rules, 0)
    os.close(rules)


def main() -> None:
    """Serve one call: what is asked comes by standard input, the answer goes to a pipe."""
    asked = json.load(sys.stdin)
    out = int(sys.argv[1])
    sys.dont_write_bytecode = True
    memory, seconds = int(asked["memory"] * 1e6), int(asked["seconds"]) + 1
    for limit, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        resource.setrlimit(limit, (most, most))
    if not asked["trusted"]:
        hide_files()
        refuse_calls()
    try:
        space: dict[str, Any] = {"__name__": "submission"}
        exec(compile(asked["source"], "submission.py", "exec"), space)
        answer = {"answer": space[asked["function"]](asked["problem"])}
        text = json.dumps(answer)
    except KeyError as error:
        lacks = asked["function"] not in space
        words = f"there is no function {asked['function']!r}" if lacks else f"KeyError: {error}"
        text = json.dumps({"error": words})
    except BaseException as error:
        lines = [each.lineno for each in traceback.extract_tb(error.__traceback__)
                 if each.filename == "submission.py"]  # fmt: skip
        where = f" (line {lines[-1]})" if lines else ""
        why = f"{type(error).__name__}: {error}".rstrip(": ")[:500]
        if isinstance(error, PermissionError):
            why = f"{REFUSED}: {why}"
        text = json.dumps({"error": why + where})
    data = memoryview(text.encode())
    while data:
        data = data[os.write(out, data) :]
    os._exit(0)


if __name__ == "__main__":
    main()
