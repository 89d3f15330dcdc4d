"""Random divisible load problems, each with a valid schedule built by a plain loop."""

from __future__ import annotations

import random
from typing import Any

from makespan import Affine, DivisibleLoad, Master, Schedule, Star, Worker

Instance = tuple[DivisibleLoad, Schedule]


def instance(seed: int) -> Instance:
    """Return a problem and a schedule that keeps all its rules."""
    return _Builder(random.Random(seed)).build()


class _Builder:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.count = rng.randint(1, 4)
        self.ports: Any = rng.choice([1, 1, 2, "many"])
        self.front_end = rng.random() < 0.75
        self.integral = rng.random() < 0.3
        self.returns = rng.choice(["none", "some", "all"])
        self.given = rng.choice(["rounds", "rounds", "order", "activation", "transfers"])
        if self.given == "transfers":
            self.ports = 1
        self.discipline = rng.choice([None, "fifo", "lifo", "return_order"])
        if self.given == "transfers":
            self.discipline = None
        self.latencies = rng.random() < 0.7
        self.use_all = rng.random() < 0.2
        self.rows: list[tuple[str, int, int, int, float, float, float]] = []

    def build(self) -> Instance:
        self.workers = [self.worker() for _ in range(self.count)]
        compute = self.cost() if self.rng.random() < 0.5 else None
        self.sends_at_a_time = self.maybe(0.5, self.rng.randint(1, 3)) if self.many else None
        self.uplink = self.maybe(0.4, self.rng.uniform(0.5, 2.0)) if self.many else None
        self.master = Master(compute=compute, sends=self.sends_at_a_time, uplink=self.uplink)
        self.decide()
        self.dispatch()
        self.compute_on_master()
        return self.problem(), Schedule.of_rows(self.names, self.shuffled())

    @property
    def many(self) -> bool:
        return bool(self.ports == "many")

    @property
    def names(self) -> list[str]:
        return [f"P{index}" for index in range(self.count + 1)]

    def maybe(self, probability: float, value: Any) -> Any:
        return value if self.rng.random() < probability else None

    def cost(self) -> Affine:
        fixed = self.rng.choice([0.0, 0.5, 1.25]) if self.latencies else 0.0
        return Affine(fixed, self.rng.choice([0.3, 1.0, 2.0, 3.5]))

    def worker(self) -> Worker:
        back = {"none": 0.0, "some": 0.5, "all": 1.0}[self.returns]
        return Worker(
            send=self.cost(),
            compute=self.cost(),
            return_=self.maybe(back, self.cost()),
            release=self.rng.choice([0.0, 0.0, 2.0]),
            price=Affine(self.rng.choice([0.0, 2.0]), self.rng.choice([0.0, 0.7])),
        )

    def amount(self) -> float:
        if self.given in ("activation", "transfers") and self.rng.random() < 0.2:
            return 0.0
        return float(self.rng.randint(1, 4)) if self.integral else self.rng.uniform(0.2, 4.0)

    def decide(self) -> None:
        """Choose the chunks round by round, then what returns when."""
        rng = self.rng
        self.rounds = rng.randint(1, 3)
        self.order = rng.sample(range(self.count), self.count)
        self.return_order = rng.sample(range(self.count), self.count)
        self.chunk_worker: list[int] = []
        self.chunk_round: list[int] = []
        for number in range(self.rounds):
            order = self.order
            if self.given != "order":
                order = rng.sample(range(self.count), self.count)
            for worker in order:
                if rng.random() < 0.8 or (self.use_all and number == 0):
                    self.chunk_worker.append(worker)
                    self.chunk_round.append(number)
        self.amounts = [self.amount() for _ in self.chunk_worker]
        backs = [c for c, w in enumerate(self.chunk_worker) if self.workers[w].return_]
        self.backs_in_order = backs
        if self.discipline == "lifo":
            self.backs_in_order = backs[::-1]
        elif self.discipline == "return_order":
            place = self.return_order.index
            self.backs_in_order = sorted(
                backs, key=lambda c: (self.chunk_round[c], place(self.chunk_worker[c]))
            )
        elif self.discipline is None:
            self.backs_in_order = rng.sample(backs, len(backs))

    def transfers(self) -> list[tuple[str, int]]:
        """Merge sends and returns, each in its order, no return before its send."""
        result: list[tuple[str, int]] = []
        sends, backs = list(range(len(self.chunk_worker))), list(self.backs_in_order)
        sent: set[int] = set()
        while sends or backs:
            if backs and backs[0] in sent and (not sends or self.rng.random() < 0.4):
                result.append(("return", backs.pop(0)))
            else:
                sent.add(sends[0])
                result.append(("send", sends.pop(0)))
        return result

    def dispatch(self) -> None:
        """Start everything when what it needs is free, sometimes later."""
        free: dict[Any, float] = {}
        slots = [0.0] * (self.sends_at_a_time or (1 if self.uplink else 99))
        computed: dict[int, float] = {}
        latest = {"send": 0.0, "return": 0.0}
        self.sequence: list[tuple[str, int]] = []
        for kind, chunk in self.transfers():
            worker, amount = self.chunk_worker[chunk], self.amounts[chunk]
            machine = self.workers[worker]
            free_of_cost = not (
                machine.send.fixed
                or machine.compute.fixed
                or (machine.return_ and machine.return_.fixed)
            )
            self.sequence.append((kind, worker))
            if self.given == "activation" and amount == 0 and free_of_cost and chunk % 2:
                continue
            port = {1: "port", 2: kind, "many": (kind, worker)}[self.ports]
            begin = max(free.get(port, 0.0), latest[kind] if self.many else 0.0)
            begin += self.rng.choice([0.0, 0.0, 0.0, 0.6])
            if kind == "return":
                begin = max(begin, computed[chunk])
                end = begin + machine.return_.fixed + machine.return_.per_unit * amount
                self.rows.append(("return", worker + 1, 0, chunk, amount, begin, end))
            else:
                slot = slots.index(min(slots))
                if self.many:
                    begin = max(begin, slots[slot])
                if not self.front_end:
                    begin = max(begin, free.get(worker, 0.0))
                per_unit = machine.send.per_unit
                if self.uplink:
                    per_unit = max(per_unit, len(slots) / self.uplink)
                end = begin + machine.send.fixed + per_unit * amount
                slots[slot] = end
                self.rows.append(("send", 0, worker + 1, chunk, amount, begin, end))
                start = max(end, free.get(worker, 0.0), machine.release)
                start += self.rng.choice([0.0, 0.0, 0.4])
                done = start + machine.compute.fixed + machine.compute.per_unit * amount
                self.rows.append(("compute", worker + 1, -1, chunk, amount, start, done))
                free[worker] = computed[chunk] = done
            free[port] = end
            latest[kind] = begin

    def compute_on_master(self) -> None:
        start = 0.0
        if self.master.compute is not None:
            for item in range(100, 100 + self.rng.randint(0, 2)):
                amount = float(self.rng.randint(1, 4))
                end = start + self.master.compute.fixed + self.master.compute.per_unit * amount
                self.rows.append(("compute", 0, -1, item, amount, start, end))
                start = end + self.rng.choice([0.0, 0.3])

    def shuffled(self) -> list[Any]:
        rows = list(self.rows)
        if self.rng.random() < 0.5:
            # what takes no time keeps its place among what starts with it
            rows.sort(key=lambda row: (row[5], row[6]))
        return rows

    def problem(self) -> DivisibleLoad:
        rng = self.rng
        amounts = dict.fromkeys(self.names, 0.0)
        largest = [0.0] * self.count
        last = [0.0] * self.count
        price = 0.0
        served: set[int] = set()
        for kind, machine, peer, _, amount, _, end in self.rows:
            if kind == "compute":
                amounts[self.names[machine]] += amount
                if machine:
                    last[machine - 1] = max(last[machine - 1], end)
            elif kind == "send":
                served.add(peer - 1)
                largest[peer - 1] = max(largest[peer - 1], amount)
                price += self.workers[peer - 1].price.per_unit * amount
        price += sum(self.workers[worker].price.fixed for worker in served)
        total = sum(amounts.values())
        makespan = max((row[-1] for row in self.rows), default=0.0)
        workers = [
            Worker(
                name=f"P{index + 1}",
                send=worker.send,
                compute=worker.compute,
                return_=worker.return_,
                price=worker.price,
                release=worker.release,
                memory=rng.choice([largest[index], 9.0, float("inf")]),
                deadline=rng.choice([last[index], float("inf")]),
            )
            for index, worker in enumerate(self.workers)
        ]
        if self.master.compute is None:
            del amounts["P0"]
        maximised = rng.random() < 0.15
        return DivisibleLoad(
            platform=Star(workers, master=self.master),
            load=None if maximised else total,
            deadline=makespan if maximised else rng.choice([None, makespan, makespan + 1]),
            loads=self.maybe(0.2, amounts) if not maximised else None,
            budget=self.maybe(0.2, price + rng.choice([0.0, 1.0])),
            ports=self.ports,
            front_end=self.front_end,
            integral=self.integral,
            use="all" if self.use_all and len(served) == self.count else "any",
            **self.given_sequences(),
        )

    def given_sequences(self) -> dict[str, Any]:
        def named(workers: list[int]) -> list[str]:
            return [f"P{worker + 1}" for worker in workers]

        given: dict[str, Any] = {}
        if self.given == "transfers":
            return {"transfers": [(kind, f"P{worker + 1}") for kind, worker in self.sequence]}
        if self.given == "activation":
            given["activation"] = named(self.chunk_worker)
        else:
            given["rounds"] = self.rounds
        if self.given == "order":
            given["order"] = named(self.order)
        if self.discipline == "return_order":
            if self.given != "activation":
                given["return_order"] = named(self.return_order)
        else:
            given["discipline"] = self.discipline
        return given
