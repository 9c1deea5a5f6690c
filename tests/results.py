"""Reads the output of `ctest --output-junit FILE`.

  results.py costs FILE...       prints a table of the most expensive tests, for docs/internals/test-cluster.md
  results.py failed FILE...      prints the last lines of each failed test
  results.py count PASSES FILE   records in the file PASSES how often each test has passed in a row;
                                 lists those that failed
  results.py left PASSES TIMES   lists the tests that have not yet passed so often in a row
"""

import json
import pathlib
import re
import sys
import typing
import xml.etree.ElementTree

COST = re.compile(r"^cost: ([\d.]+) s, ([\d.]+) s of CPU$", re.M)  # printed by cost.py
SHOWN = 5.0  # seconds; the table has the sum of cheaper tests
LAST, WIDTH = 25, 200  # lines of a failed test, and their characters


class Outcome(typing.NamedTuple):
    name: str
    passed: bool
    wall: float  # seconds
    cpu: typing.Optional[float]  # seconds; None: not measured
    output: str


def outcomes(file):
    """Yields one result for each test. A test that could not start has not passed."""
    for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        if case.get("status") == "disabled":
            continue
        output = case.findtext("system-out") or ""
        cost = COST.findall(output)
        yield Outcome(case.get("name"), case.get("status") == "run", float(case.get("time")),
                      float(cost[-1][1]) if cost else None, output)


def table(found):
    """Returns Markdown; the most expensive test comes first."""
    def row(name, wall, cpu):
        return f"| {name} | {wall:.0f} | {'' if cpu is None else f'{cpu:.0f}'} |"
    found = sorted(found, key=lambda one: -one.wall)
    dear = [one for one in found if one.wall >= SHOWN]
    cheap = [one for one in found if one.wall < SHOWN]
    rows = [row(one.name, one.wall, one.cpu) for one in dear]
    rows.append(row(f"{len(cheap)} others", sum(one.wall for one in cheap), sum(one.cpu or 0 for one in cheap)))
    rows.append(row(f"all {len(found)}", sum(one.wall for one in found), sum(one.cpu or 0 for one in found)))
    return "\n".join(["| test | wall time, s | CPU, s |", "| --- | --- | --- |", *rows])


def ends(found):
    """Returns the last lines of each failed test."""
    lines = []
    for one in found:
        if not one.passed:
            lines.append(f"== {one.name} failed after {one.wall:.0f} s")
            lines += [line[:WIDTH] for line in one.output.splitlines()[-LAST:]]
    return "\n".join(lines)


def counted(passes, found):
    """Counts how often each test has passed in a row; a failure resets the count."""
    return passes | {one.name: passes.get(one.name, 0) + 1 if one.passed else 0 for one in found}


def main(arguments):
    command, *files = arguments
    if command == "costs":
        print(table([one for file in files for one in outcomes(file)]))
        return 0
    if command == "failed":
        print(ends([one for file in files for one in outcomes(file)]))
        return 0
    state = pathlib.Path(files[0])
    passes = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    if command == "count":
        found = list(outcomes(files[1]))
        state.write_text(json.dumps(counted(passes, found), indent=1, sort_keys=True), encoding="utf-8")
        names = [one.name for one in found if not one.passed]
    elif command == "left":
        names = [name for name, times in sorted(passes.items()) if times < int(files[1])]
    else:
        return f"results.py has no command {command}"
    for name in names:
        print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
