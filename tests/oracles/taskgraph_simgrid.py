"""Replays a plan with SimGrid: reads it as JSON, prints the time at which the last task ends.

Run by an interpreter that has SimGrid's Python module (Debian: python3-simgrid). Each machine has
an actor that executes its tasks in order. Every transfer needs its turn on each thing that it
occupies (ports or links), where an actor lets transfers pass in the plan's order. Links do not
share their rate: that transfers exclude one another is what the actors see to.
"""

import json
import sys
import tempfile

from simgrid import Actor, Engine, Mailbox, Semaphore, this_actor

SCALE = 1e6  # SimGrid rounds amounts of work absolutely


def platform(machines):
    """Return the platform as XML: one link for each ordered pair of machines."""
    lines = ["<?xml version='1.0'?>",
             '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
             '<platform version="4.1"><zone id="all" routing="Full">']  # fmt: skip
    lines += [f'<host id="h{i}" speed="{SCALE}f"/>' for i in range(machines)]
    pairs = [(a, b) for a in range(machines) for b in range(machines) if a != b]
    lines += [
        f'<link id="l{a}_{b}" bandwidth="{SCALE}Bps" latency="0s" sharing_policy="FATPIPE"/>'
        for a, b in pairs
    ]
    lines += [
        f'<route src="h{a}" dst="h{b}" symmetrical="NO"><link_ctn id="l{a}_{b}"/></route>'
        for a, b in pairs
    ]
    return "\n".join([*lines, "</zone></platform>"])


def main():
    plan = json.load(sys.stdin)
    options = ("network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0")
    engine = Engine(
        ["replay", *(f"--cfg={option}" for option in options), "--log=root.thres:error"]
    )
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(platform(len(plan["order"])))
        file.flush()
        engine.load_platform(file.name)
    arrived = [Semaphore(0) for _ in plan["edges"]]
    ended = [Semaphore(0) for _ in plan["edges"]]
    turn = {}
    for thing, edges in enumerate(plan["queues"]):
        for edge in edges:
            turn.setdefault(edge, []).append((thing, Semaphore(0), Semaphore(0)))
    times = []

    def machine(index):
        for task in plan["order"][index]:
            for edge in plan["incoming"][task]:
                arrived[edge].acquire()
            this_actor.execute(plan["seconds"][task] * SCALE)
            times.append(Engine.clock)
            for edge in plan["outgoing"][task]:
                (ended if plan["sent"][edge] else arrived)[edge].release()

    def queue(thing):
        for edge in plan["queues"][thing]:
            _, may, done = next(entry for entry in turn[edge] if entry[0] == thing)
            may.release()
            done.acquire()

    def sender(edge):
        ended[edge].acquire()
        for _, may, _ in turn.get(edge, []):
            may.acquire()
        Mailbox.by_name(f"e{edge}").put("data", round(plan["edges"][edge] * SCALE))

    def receiver(edge):
        Mailbox.by_name(f"e{edge}").get()
        for _, _, done in turn.get(edge, []):
            done.release()
        arrived[edge].release()

    hosts = engine.all_hosts
    for index in range(len(plan["order"])):
        Actor.create(f"m{index}", hosts[index], machine, index)
    for thing in range(len(plan["queues"])):
        Actor.create(f"q{thing}", hosts[0], queue, thing)
    for edge, pair in enumerate(plan["sent"]):
        if pair:
            Actor.create(f"s{edge}", hosts[pair[0]], sender, edge)
            Actor.create(f"r{edge}", hosts[pair[1]], receiver, edge)
    engine.run()
    assert len(times) == len(plan["seconds"]), "the replay did not end"
    sys.stdout.write(json.dumps(max(times)) + "\n")


if __name__ == "__main__":
    main()
