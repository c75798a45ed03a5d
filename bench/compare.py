"""Before and after, interleaved: `.venv/bin/python bench/compare.py ../before` prints one table in Markdown.

`../before` is another checkout with a `.venv` and a `.venv-sandbox` of its own. Each round measures both; every figure
is the median of its rounds. `--quick` leaves out first token, load and claims, which a machine with other work says
nothing about.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
Figures = dict[str, float]
COST = {
    "ours_ms": "processor time of ours a message, ms",
    "servers_ms": "processor time of mongod and Redis a message, ms",
    "mongo": "commands of MongoDB a message, feed and heartbeats included",
    "redis": "commands of Redis a message",
    "mib": "memory a process, MiB",
}


def run_script(tree: Path, script: Path, *options: str) -> str:
    """What a benchmark prints about that checkout."""
    environ = {**os.environ, "BENCH_ROOT": str(tree)}
    # Its own Python: what is installed there is its own code.
    command = [str(tree / ".venv" / "bin" / "python"), str(script), *options]
    return subprocess.run(command, env=environ, cwd=tree, check=True, capture_output=True, text=True).stdout


def cost(tree: Path) -> Figures:
    # The checkout before it may have no such script.
    found = re.findall(r"^(.+): (\{.+\})$", run_script(tree, HERE / "bench" / "message_cost.py"), re.MULTILINE)
    return {f"{fleet}: {COST[name]}": value for fleet, each in found for name, value in json.loads(each).items()}


def first_token(tree: Path) -> Figures:
    return _summaries(
        run_script(tree, HERE / "bench" / "first_token.py"), r"^(first token, (?:alone|10 .+?)): (p50.+)$"
    )


def load(tree: Path) -> Figures:
    figures: Figures = {}
    for fleet in ("2", "2+2"):
        said = run_script(tree, HERE / "bench" / "load.py", "--fleet", fleet)
        figures |= _summaries(said, r"^  spread: (100 sessions, first token): (p50.+)$", f"{fleet}: ")
        ours = re.search(r"spread: .*?([\d.]+) ms of ours", said)
        figures[f"{fleet}: ms of ours a message with 250 pieces of text"] = float(ours.group(1)) if ours else 0.0
    return figures


def claim(tree: Path) -> Figures:
    return _summaries(
        run_script(tree, tree / "bench" / "sandbox_claim.py"), r"^(claim to first answer \(process\)): (p50.+)$"
    )


def _summaries(said: str, pattern: str, prefix: str = "") -> Figures:
    return {
        f"{prefix}{name}, {share} ms": float(value)
        for name, rest in re.findall(pattern, said, re.MULTILINE)
        for share, value in re.findall(r"(p50|p95) ([\d.]+)", rest)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "after": HERE}
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(options.rounds):
        for name, tree in trees.items():
            for measure in (cost,) if options.quick else (cost, first_token, load, claim):
                print(f"round {number + 1}, {name}: {measure.__name__}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
                for figure, value in measure(tree).items():
                    found[figure][name].append(value)
    print("| what | before | after | change |\n|---|---|---|---|")
    for figure, sides in found.items():
        before, after = (median(sides[name]) for name in trees)
        print(f"| {figure} | {before:.4g} | {after:.4g} | {100 * (after / before - 1):+.0f} % |")


if __name__ == "__main__":
    main()
