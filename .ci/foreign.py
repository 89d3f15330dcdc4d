"""Run a command as on a machine of another kind: python .ci/foreign.py KIND COMMAND…

Without a command, print the kind of a day of the year, today if none is given:
python .ci/foreign.py [DAY]
"""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AVX512 = (
    *("AVX512F", "AVX512CD", "AVX512_SKX", "AVX512_CLX"),
    *("AVX512_CNL", "AVX512_ICL", "AVX512_SPR", "X86_V4"),
)
AVX2 = ("AVX2", "FMA3", "X86_V3")
OURS = (
    *("src", "packages", "boards", "tests", "docs", "examples", "benchmarks", "campaign"),
    *(".ci", ".github"),
)
"""The folders of a checkout that tests read."""


def processor(core: str, *missing: str) -> None:
    """Choose the kernels of BLAS and LAPACK, and do without instructions elsewhere."""
    os.environ["OPENBLAS_CORETYPE"] = core
    if not missing:
        return
    from numpy._core import _multiarray_umath as loops

    known = set(loops.__cpu_dispatch__) & {n for n, has in loops.__cpu_features__.items() if has}
    if disabled := known.intersection(missing):
        os.environ["NPY_DISABLE_CPU_FEATURES"] = " ".join(sorted(disabled))
    usable = ["-AVX512F", "-AVX512VL"] + ["-AVX2", "-FMA"] * ("AVX2" in missing)
    os.environ["GLIBC_TUNABLES"] = f"glibc.cpu.hwcaps={','.join(usable)}"


def skylake() -> None:
    """The widest vectors, where the processor has them: OpenBLAS takes the name on trust."""
    cpu = Path("/proc/cpuinfo")
    if cpu.exists() and "avx512vl" in cpu.read_text():
        processor("SkylakeX")


def oldest() -> None:
    """What every processor of 64 bits has, for compiled loops, too."""
    processor("Prescott", *AVX512, *AVX2)
    compiled_for_all()


def compiled_for_all() -> None:
    os.environ["NUMBA_CPU_NAME"] = "generic"


def background() -> None:
    """As shells start jobs in the background, and build servers theirs."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def elsewhere() -> None:
    """Another time zone, no language, nobody's home."""
    os.environ.update(TZ="Asia/Kathmandu", LC_ALL="C", HOME="/nonexistent")
    for name in ("LANG", "USER", "LOGNAME"):
        os.environ.pop(name, None)


KINDS: dict[str, Callable[[], None]] = {
    "Haswell": lambda: processor("Haswell", *AVX512),
    "background": background,
    "SkylakeX": skylake,
    "elsewhere": elsewhere,
    "Zen": lambda: processor("Zen", *AVX512),
    "generic": compiled_for_all,
    "Sandybridge": lambda: processor("Sandybridge", *AVX512, *AVX2),
    "unwritable": lambda: None,
    "Prescott": oldest,
}


def unwritable(command: list[str]) -> int:
    """Run a command in a copy of the checkout that can't be written, by root neither."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "makespan")
        for path in ROOT.iterdir():
            if path.name in OURS:
                shutil.copytree(path, copy / path.name)  # with what is compiled
            elif path.is_file():
                copy.mkdir(exist_ok=True)
                shutil.copy(path, copy)
        every = [copy, *copy.rglob("*")]
        for path in every:
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
        if os.geteuid() == 0:
            no = "-dac_override,-dac_read_search,-fowner"
            command = ["setpriv", f"--bounding-set={no}", f"--inh-caps={no}", *command]
        places = map(str, [copy / "src", *copy.glob("packages/*/src")])
        here = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
        code = subprocess.run(command, cwd=copy, env=here, check=False).returncode
        for path in every:
            if path.is_dir():
                path.chmod(0o700)
    return code


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        day = int(arguments[0]) if arguments else time.localtime().tm_yday
        print([*KINDS][day % len(KINDS)])
        return 0
    kind, *command = arguments
    if kind not in KINDS:
        print(f"{kind} is not one of {', '.join(KINDS)}", file=sys.stderr)
        return 2
    KINDS[kind]()
    if kind == "unwritable":
        return unwritable(command)
    return os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
