"""The rules of divisible loads on a star, one by one, as slow and plain as they read.

Everything is exact: times and amounts become fractions. Used to referee the referee.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

from makespan import DivisibleLoad, Master, Schedule, Worker

Record = dict[str, Any]
BILLIONTH = Fraction(1, 10**9)


def broken_rules(problem: DivisibleLoad, schedule: Schedule) -> set[str]:
    """Return the names of the rules that ``schedule`` breaks."""
    records = [dict(record, row=row) for row, record in enumerate(schedule.records())]
    for record in records:
        for column in ("amount", "start", "end"):
            record[column] = Fraction(record[column])
    if problem.platform.master == "choose":
        senders = {record["machine"] for record in records if record["kind"] == "send"}
        if len(senders) > 1:
            return {"master"}
        computing = sorted(
            (record for record in records if record["kind"] == "compute"),
            key=lambda record: (record["start"], record["end"], record["row"]),
        )
        if not senders:
            senders = {record["machine"] for record in computing[:1]} or {problem.machines[0]}
        problem = problem.with_master(list(problem.platform.names).index(senders.pop()))
    return _Rules(problem, records).broken()


class _Rules:
    def __init__(self, problem: DivisibleLoad, records: list[Record]) -> None:
        self.problem = problem
        self.records = records
        self.master: Master = problem.platform.master
        self.workers: dict[str, Worker] = {w.name: w for w in problem.platform.workers}
        self.makespan = max((record["end"] for record in records), default=Fraction(0))
        self.time = BILLIONTH * self.makespan
        self.computes = [record for record in records if record["kind"] == "compute"]
        self.sends = [
            record
            for record in records
            if record["kind"] == "send"
            and record["machine"] == self.master.name
            and record["peer"] in self.workers
        ]
        self.returns = [
            record
            for record in records
            if record["kind"] == "return"
            and record["peer"] == self.master.name
            and record["machine"] in self.workers
        ]
        self.computed = sum((record["amount"] for record in self.computes), Fraction(0))
        load = self.computed if problem.load is None else Fraction(problem.load)
        self.unit = BILLIONTH * load
        self.found: set[str] = set()

    def require(self, rule: str, holds: bool) -> None:
        if not holds:
            self.found.add(rule)

    def broken(self) -> set[str]:
        self.roles()
        self.chunks()
        self.times()
        self.exclusions()
        self.rates()
        self.amounts()
        self.rounds()
        self.sequences()
        self.discipline()
        return self.found

    def roles(self) -> None:
        for record in self.records:
            self.require("kind", record["kind"] in ("send", "return", "compute"))
            if record["kind"] == "send":
                self.require("route", record in self.sends)
            if record["kind"] == "return":
                self.require("route", record in self.returns)
            if record["kind"] == "compute":
                self.require("route", record["peer"] is None)
            if record["amount"] == 0:
                asked = (
                    self.problem.activation is not None
                    or self.problem.transfers is not None
                    or self.problem.use == "all"
                )
                masters = record["kind"] == "compute" and record["machine"] == self.master.name
                self.require("empty", asked and not masters)

    def chunks(self) -> None:
        for item in {record["item"] for record in self.records}:
            sends, computes, returns = (
                [record for record in rows if record["item"] == item]
                for rows in (self.sends, self.computes, self.returns)
            )
            if not sends:
                self.require("chunk", not returns and len(computes) <= 1)
                for record in computes:
                    self.require("chunk", record["machine"] == self.master.name)
                    if record["machine"] == self.master.name:
                        self.require("master", self.master.compute is not None)
                continue
            worker = self.workers[sends[0]["peer"]]
            back = 0 if worker.return_ is None else 1
            self.require("chunk", len(sends) == 1)
            self.require("chunk", len(computes) == 1)
            self.require("chunk", len(returns) == back)
            for record in (computes[:1]) + (returns[:1]):
                self.require("machine", record["machine"] == worker.name)
                self.require("amount", abs(record["amount"] - sends[0]["amount"]) <= self.unit)
            for first, second in ((sends, computes), (computes, returns)):
                if first and second:
                    self.require("precedence", second[0]["start"] >= first[0]["end"] - self.time)

    def times(self) -> None:
        for record in self.sends:
            cost = self.workers[record["peer"]].send
            self.duration(record, cost, slower=self.master.uplink is not None)
        for record in self.returns:
            worker = self.workers[record["machine"]]
            if worker.return_ is not None:
                self.duration(record, worker.return_)
            else:
                self.require("duration", record["end"] - record["start"] <= self.time)
        sent = {record["item"] for record in self.sends}
        for record in self.computes:
            if record["machine"] == self.master.name:
                if record["item"] not in sent and self.master.compute is not None:
                    self.duration(record, self.master.compute)
                continue
            worker = self.workers[record["machine"]]
            self.duration(record, worker.compute)
            self.require("release", record["start"] >= Fraction(worker.release) - self.time)
            if worker.deadline != float("inf"):
                late = record["end"] - Fraction(worker.deadline)
                self.require("worker-deadline", late <= self.time)
        if self.problem.deadline is not None:
            late = self.makespan - Fraction(self.problem.deadline)
            self.require("deadline", late <= self.time)

    def duration(self, record: Record, cost: Any, slower: bool = False) -> None:
        nominal = Fraction(cost.fixed) + Fraction(cost.per_unit) * record["amount"]
        rate = Fraction(cost.per_unit)
        for size, slower in getattr(cost, "beyond", ()):
            nominal += (Fraction(slower) - rate) * max(0, record["amount"] - Fraction(size))
            rate = Fraction(slower)
        length = record["end"] - record["start"]
        self.require("duration", length >= nominal - self.time)
        self.require("duration", slower or length <= nominal + self.time)

    def together(self, first: Record, second: Record) -> bool:
        shared = min(first["end"], second["end"]) - max(first["start"], second["start"])
        return shared > self.time

    def exclusions(self) -> None:
        ports = self.problem.ports
        rows = self.computes + self.sends + self.returns
        for index, first in enumerate(rows):
            for second in rows[:index]:
                if self.together(first, second):
                    rule = self.excluding(first, second, ports)
                    if rule is not None:
                        self.found.add(rule)

    def excluding(self, first: Record, second: Record, ports: Any) -> str | None:
        """Return the rule that forbids two activities at a time."""
        kinds = {first["kind"], second["kind"]}
        if kinds == {"compute"}:
            return "processor" if first["machine"] == second["machine"] else None
        if kinds == {"compute", "send"}:
            compute, send = sorted((first, second), key=lambda record: record["kind"])
            same = compute["machine"] == send["peer"]
            return "front-end" if same and not self.problem.front_end else None
        if "compute" in kinds:
            return None
        if ports == 1:
            return "one-port"
        if len(kinds) == 2:
            return None
        if ports == 2:
            return "two-port"
        end = "peer" if kinds == {"send"} else "machine"
        return "link" if first[end] == second[end] else None

    def rates(self) -> None:
        moments = [record["start"] for record in self.sends]
        if self.master.sends is not None:
            for moment in moments:
                active = [r for r in self.sends if r["start"] <= moment < r["end"] - self.time]
                self.require("sends", len(active) <= self.master.sends)
        if self.master.uplink is None:
            return
        uplink = Fraction(self.master.uplink)
        flows = []
        for record in self.sends:
            begin = record["start"] + Fraction(self.workers[record["peer"]].send.fixed)
            length = record["end"] - begin
            alone = length >= record["amount"] / uplink - self.time
            self.require("uplink", alone)
            if alone and length > self.time:
                rate = record["amount"] / (length + self.time)
                flows.append((begin, record["end"] - self.time, rate))
        for moment, _, _ in flows:
            total = sum(rate for begin, end, rate in flows if begin <= moment < end)
            self.require("uplink", total <= uplink * (1 + BILLIONTH))

    def amounts(self) -> None:
        problem = self.problem
        if problem.load is not None:
            self.require("conservation", abs(self.computed - Fraction(problem.load)) <= self.unit)
        if problem.loads is not None:
            for name in problem.machines:
                done = sum(r["amount"] for r in self.computes if r["machine"] == name)
                given = Fraction(problem.loads.get(name, 0.0))
                self.require("loads", abs(done - given) <= self.unit)
        if problem.integral:
            for record in self.records:
                off = abs(record["amount"] - round(record["amount"]))
                self.require("integral", off <= BILLIONTH)
        for record in self.sends:
            memory = self.workers[record["peer"]].memory
            if memory != float("inf"):
                self.require("memory", record["amount"] <= Fraction(memory) + self.unit)
        spent = Fraction(0)
        for name, worker in self.workers.items():
            received = [record["amount"] for record in self.sends if record["peer"] == name]
            if received:
                price = worker.price
                spent += Fraction(price.fixed) + Fraction(price.per_unit) * sum(received)
            else:
                self.require("use", problem.use == "any")
        if problem.budget is not None:
            self.require("budget", spent <= Fraction(problem.budget) * (1 + BILLIONTH))

    def lines(self, rows: list[Record]) -> list[list[tuple[str, str]]]:
        """Return every order in time that some transfers may be seen in: (kind, worker)."""

        def level(record: Record) -> Any:
            if self.problem.ports == "many":
                return record["start"]
            return record["start"], record["end"]

        groups = [
            [
                (r["kind"], r["peer"] if r["kind"] == "send" else r["machine"])
                for r in rows
                if level(r) == value
            ]
            for value in sorted({level(record) for record in rows})
        ]
        choices = [sorted(set(permutations(group))) for group in groups]
        return [[entry for group in choice for entry in group] for choice in product(*choices)]

    def rounds(self) -> None:
        problem = self.problem
        if problem.rounds == "auto":
            return
        if problem.activation is None and problem.transfers is None:
            lines = self.lines(self.sends)
            fits = any(splits(line, problem.rounds, None) for line in lines)
            self.require("rounds", fits)
            if fits and problem.order is not None:
                order = problem.order
                self.require("order", any(splits(line, problem.rounds, order) for line in lines))
        if problem.return_order is not None and problem.activation is None:
            lines = self.lines(self.returns)
            order = problem.return_order
            self.require("return-order", any(splits(line, problem.rounds, order) for line in lines))

    def sequences(self) -> None:
        problem = self.problem
        given: list[tuple[str, list[Record], list[tuple[str, str]]]] = []
        if problem.activation is not None:
            entries = [("send", name) for name in problem.activation]
            given.append(("activation", self.sends, entries))
            if problem.return_order is not None:
                entries = [("return", name) for name in problem.return_order]
                given.append(("return-order", self.returns, entries))
        if problem.transfers is not None:
            made = [
                (kind, name)
                for kind, name in problem.transfers
                if kind == "send" or self.workers[name].return_ is not None
            ]
            lines = self.lines(self.sends + self.returns)
            self.require("transfers", made in lines)
        for rule, rows, entries in given:
            self.require(rule, any(self.is_sequence(line, entries) for line in self.lines(rows)))

    def is_sequence(self, line: list[tuple[str, str]], entries: list[tuple[str, str]]) -> bool:
        """Whether a line is the entries, some of which may be missing."""
        if not entries:
            return not line
        if line and line[0] == entries[0] and self.is_sequence(line[1:], entries[1:]):
            return True
        return self.may_miss(*entries[0]) and self.is_sequence(line, entries[1:])

    def may_miss(self, kind: str, name: str) -> bool:
        worker = self.workers[name]
        if worker.return_ is None and kind == "return":
            return True
        costs = (worker.send, worker.compute, worker.return_)
        return all(cost is None or cost.fixed == 0 for cost in costs)

    def discipline(self) -> None:
        wanted = self.problem.discipline
        if wanted is None:
            return

        def level(record: Record) -> Any:
            many = self.problem.ports == "many"
            return (record["start"],) if many else (record["start"], record["end"])

        pairs = []
        for item in {record["item"] for record in self.returns}:
            sends = [record for record in self.sends if record["item"] == item]
            returns = [record for record in self.returns if record["item"] == item]
            if sends:
                pairs.append((level(sends[0]), level(returns[0])))
        for sent, returned in pairs:
            for other_sent, other_returned in pairs:
                if sent < other_sent:
                    early, late = returned, other_returned
                    if wanted == "lifo":
                        early, late = late, early
                    self.require("discipline", early <= late)


def splits(line: list[tuple[str, str]], rounds: int, order: tuple[str, ...] | None) -> bool:
    """Whether a line is at most so many rounds, by trying every first round."""
    if not line:
        return True
    if rounds == 0:
        return False
    for length in range(1, len(line) + 1):
        names = [name for _, name in line[:length]]
        if order is None:
            good = len(set(names)) == length
        else:
            places = [order.index(name) for name in names]
            good = all(a < b for a, b in pairwise(places))
        if good and splits(line[length:], rounds - 1, order):
            return True
    return False
