"""Real runs of Snakemake, small ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("snakemake", reason="Snakemake is not installed")

SNAKEFILE = """
rule all:
    input: "end.txt"

rule short:
    output: "short/{n}.txt"
    resources: mem_mb=10
    shell: "sleep 0.05; echo {wildcards.n} > {output}"

rule long:
    output: temp("long.txt")
    benchmark: "bench/long.tsv"
    shell: "sleep 0.6; echo long > {output}"

rule join:
    input: "long.txt", expand("short/{n}.txt", n=range(6))
    output: "end.txt"
    shell: "cat {input} > {output}"
"""


def snakemake(folder: Path, *options: str) -> list[str]:
    """Run it and return the rules in the order in which they began."""
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--scheduler", "makespan"]
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stderr.splitlines()]
    began = ("rule", "localrule", "checkpoint", "localcheckpoint")
    return [line[1].rstrip(":") for line in lines if line and line[0] in began]


def kept(folder: Path) -> Any:
    return json.loads((folder / ".snakemake" / "makespan.json").read_text())["rules"]


def test_a_first_and_a_second_run(tmp_path: Path) -> None:
    """The first one learns; the second one begins with the job that takes longest."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    assert sorted(snakemake(tmp_path)) == ["all", "join", "long", *["short"] * 6]
    assert (tmp_path / "end.txt").read_text().startswith("long\n0\n1\n")
    assert not (tmp_path / "long.txt").exists(), "it was temporary"
    rules = kept(tmp_path)
    assert sorted(rules["short"]) == [f"n={number}" for number in range(6)]
    assert 0.6 <= rules["long"][""][1] < 30.0
    assert snakemake(tmp_path, "--forceall") == ["long", *["short"] * 6, "join", "all"]


def test_a_job_in_a_process_of_its_own_and_a_checkpoint(tmp_path: Path) -> None:
    """Jobs of ``run:`` start Snakemake once more; a checkpoint adds jobs on the way."""
    (tmp_path / "Snakefile").write_text(
        """
def parts(wildcards):
    folder = checkpoints.split.get().output[0]
    return expand("done/{n}.txt", n=glob_wildcards(folder + "/{n}.txt").n)

rule all:
    input: parts

checkpoint split:
    output: directory("parts")
    shell: "mkdir {output}; for n in a b c; do echo $n > {output}/$n.txt; done"

rule work:
    input: "parts/{n}.txt"
    output: "done/{n}.txt"
    run:
        open(output[0], "w").write(open(input[0]).read())
"""
    )
    began = snakemake(tmp_path)
    assert [began.count(rule) for rule in ("split", "work", "all")] == [1, 3, 1]
    assert sorted(kept(tmp_path)["work"]) == ["n=a", "n=b", "n=c"]
    assert all(size == 2 for size, _ in kept(tmp_path)["work"].values())
