"""Replays plans with SimGrid: reads one a line as JSON, prints when its tasks end, a line each.

Run by an interpreter that has SimGrid's Python module (Debian: python3-simgrid). A plan is a list
of nodes with cores, of links, of tasks in the order in which each machine takes them, and of the
hops of their data. What excludes one another in the model shares a link's rate, or the cores of a
host, in SimGrid; the plan's order says what goes first. SimGrid says how long everything takes.
"""

import json
import os
import sys
import tempfile
from itertools import pairwise

from simgrid import Actor, Comm, Engine, Host, Semaphore, this_actor

SCALE = 2.0**40  # SimGrid counts whole bytes
FASTEST = 1e60  # bytes a second of a link that takes no time
OPTIONS = (
    "network/model:CM02",  # a message takes latency + size / bandwidth ...
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:0",  # ... without a window that limits the rate
    "network/crosstraffic:0",
    "surf/precision:1e-13",  # seconds
    "maxmin/precision:1e-9",  # of rates
)


def platform(plan):
    """Return the platform as XML: one link for each hop that data can take."""
    lines = ["<?xml version='1.0'?>",
             '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1"><zone id="all" routing="Full">']  # fmt: skip
    for node, cores in enumerate(plan["cores"]):
        lines.append(f'<host id="n{node}" speed="{SCALE}f" core="{cores}"/>')
    policy = "SHARED" if plan["alone"] else "FATPIPE"
    for a, b, rate, setup in plan["links"]:
        speed = FASTEST if rate is None else rate * SCALE
        lines.append(
            f'<link id="l{a}_{b}" bandwidth="{speed!r}Bps" latency="{setup!r}s" '
            f'sharing_policy="{policy}"/>'
        )
    lines += [
        f'<route src="n{a}" dst="n{b}" symmetrical="NO"><link_ctn id="l{a}_{b}"/></route>'
        for a, b, _, _ in plan["links"]
    ]
    return "\n".join([*lines, "</zone></platform>"])


class Replay:
    """Actors that carry out a plan."""

    def __init__(self, plan):
        self.plan = plan
        self.ends = [None] * len(plan["tasks"])
        self.host = [Host.by_name(f"n{node}") for node in range(len(plan["cores"]))]
        self.ended = [Semaphore(0) for _ in plan["edges"]]  # its source
        self.arrived = [Semaphore(0) for _ in plan["edges"]]
        self.free = [Semaphore(cores) for cores in plan["cores"]]
        self.waits, self.lets = {}, {}  # hops of edges: what lets them go, whom they let go
        last = {}
        for edge, number, things in plan["turns"]:
            hop = edge, number
            for thing in things:
                may = Semaphore(0)
                if thing in last:
                    self.lets[last[thing]].append(may)
                    self.waits.setdefault(hop, []).append(may)
                last[thing] = hop
            self.lets.setdefault(hop, [])

    def start(self):
        blocking = self.plan["blocking"]
        for node, order in enumerate(self.plan["order"]):
            Actor.create(f"m{node}", self.host[node], self.machine, node, order)
        for edge, data in enumerate(self.plan["edges"]):
            if data["path"] and not blocking:
                Actor.create(f"e{edge}", self.host[data["path"][0]], self.alone, edge)

    def machine(self, node, order):
        """Take the tasks in their order, each when its cores are free and its data are there."""
        for task in order:
            stated = self.plan["tasks"][task]
            this_actor.sleep_until(stated["release"])
            for edge in stated["incoming"]:
                waits = self.ended if self.plan["blocking"] else self.arrived
                waits[edge].acquire()
            needs = stated["cores"] if stated["seconds"] > 0 or stated["fetches"] else 0
            for _ in range(needs):
                self.free[node].acquire()
            Actor.create(f"t{task}", self.host[node], self.execute, node, task, needs)

    def execute(self, node, task, needs):
        stated = self.plan["tasks"][task]
        for edge in stated["fetches"]:
            self.carry(edge)
        this_actor.execute(stated["seconds"] * SCALE)
        self.ends[task] = Engine.clock
        for _ in range(needs):
            self.free[node].release()
        for edge in stated["outgoing"]:
            path = self.plan["edges"][edge]["path"]
            (self.ended if path or self.plan["blocking"] else self.arrived)[edge].release()

    def alone(self, edge):
        """Carry data beside computation, from the end of their source on."""
        self.ended[edge].acquire()
        self.carry(edge)
        self.arrived[edge].release()

    def carry(self, edge):
        """Send data over one hop after another, each in its turn."""
        data = self.plan["edges"][edge]
        for number, (a, b) in enumerate(pairwise(data["path"])):
            for may in self.waits.get((edge, number), []):
                may.acquire()
            Comm.sendto(self.host[a], self.host[b], round(data["size"] * SCALE))
            for may in self.lets.get((edge, number), []):
                may.release()
        this_actor.sleep_for(data["delay"])


def replayed(plan):
    """Return when each task ends."""
    engine = Engine(["replay", *(f"--cfg={each}" for each in OPTIONS), "--log=root.thres:error"])
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(platform(plan))
        file.flush()
        engine.load_platform(file.name)
    replay = Replay(plan)
    replay.start()
    engine.run()
    return replay.ends


def main():
    """Replay each plan in a process of its own: SimGrid runs once in one."""
    for line in sys.stdin:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            sys.stdout.write(json.dumps(replayed(json.loads(line))) + "\n")
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, line


if __name__ == "__main__":
    main()
