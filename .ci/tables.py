"""Tables of the tests that were skipped and of the slowest: python .ci/tables.py JUNIT-FILE…"""

import sys
from collections import Counter, defaultdict
from xml.etree import ElementTree

SLOWEST = 40


def main(paths: list[str]) -> None:
    seconds: Counter[str] = Counter()
    ran: set[str] = set()
    reasons: dict[str, str] = {}
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            seconds[name] = max(seconds[name], float(case.get("time", 0)))
            skipped = case.find("skipped")
            if skipped is None:
                ran.add(name)
            else:
                reasons[name] = skipped.get("message", "")
    of_reason: dict[str, list[str]] = defaultdict(list)
    for name, reason in reasons.items():
        if name not in ran:
            of_reason[reason].append(name)
    print(f"== {len(ran):,} tests ran, {sum(map(len, of_reason.values())):,} were skipped")
    for reason, names in sorted(of_reason.items(), key=lambda item: -len(item[1])):
        rooms = Counter(name.partition("::")[0] for name in names)
        places = ", ".join(f"{room} {count}" for room, count in rooms.most_common(4))
        print(f"{len(names):5}  {reason}\n       {places}{', …' * (len(rooms) > 4)}")
    print(f"== the {SLOWEST} slowest tests, seconds of their slowest run")
    for name, took in seconds.most_common(SLOWEST):
        print(f"{took:7.1f}  {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
