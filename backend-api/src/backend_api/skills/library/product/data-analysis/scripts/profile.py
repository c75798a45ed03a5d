"""Profile a table column by column, and list what looks wrong with it. CSV, TSV and JSON lines."""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
MOST_ROWS = 2_000_000
DIGITS = re.compile(r"\d{1,3}([.,' ]\d{3})+([.,]\d+)?|\d+,\d+|[€$£¥]\s?\d.*|\d.*\s?%")


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            for line in file:
                if line.strip():
                    found: Any = json.loads(line)
                    row = found if isinstance(found, dict) else {"value": found}
                    yield {str(name): "" if value is None else str(value) for name, value in row.items()}
            return
        sample = file.read(64 * 1024)
        file.seek(0)
        if path.suffix.lower() == ".tsv":
            delimiter = "\t"
        else:
            try:
                delimiter = csv.Sniffer().sniff(sample, delimiters=",;\t|").delimiter
            except csv.Error:
                delimiter = ","
        for row in csv.DictReader(file, delimiter=delimiter, restkey="(too many)", restval=""):
            yield {str(name): value if isinstance(value, str) else "|".join(value or []) for name, value in row.items()}


def is_day(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) >= 8


def kind_of(text: str) -> str:
    if NUMBER.fullmatch(text):
        return "number"
    if text.lower() in ("true", "false", "yes", "no"):
        return "yes or no"
    return "day" if is_day(text) else "text"


def described(name: str, values: list[str]) -> list[str]:
    present = [value.strip() for value in values if value.strip().lower() not in MISSING]
    missing = len(values) - len(present)
    kinds = Counter(map(kind_of, present))
    lines = [f"## {name}"]
    if not present:
        return [*lines, f"always missing ({missing})"]
    kind, count = kinds.most_common(1)[0]
    lines.append(f"{kind}; {missing} missing of {len(values)}; {len(set(present))} different")
    if kind == "number":
        numbers = sorted(float(value) for value in present if NUMBER.fullmatch(value))
        middle = statistics.median(numbers)
        lines.append(
            f"from {numbers[0]:g} to {numbers[-1]:g}, mean {statistics.fmean(numbers):g}, median {middle:g}, "
            f"sum {sum(numbers):g}"
        )
        if len(numbers) >= 8:
            low, _, high = statistics.quantiles(numbers, n=4)
            reach = 3 * (high - low)
            far = [one for one in numbers if reach and not low - reach <= one <= high + reach]
            if far:
                lines.append(f"! {len(far)} far outside the rest: {', '.join(f'{one:g}' for one in far[:5])}")
    elif kind == "day":
        days = sorted(value for value in present if is_day(value))
        lines.append(f"from {days[0]} to {days[-1]}")
    if kind != "number":
        common = Counter(present).most_common(5)
        lines.append("commonest: " + "; ".join(f"{value[:40]} ({number})" for value, number in common))
    if len(kinds) > 1:
        others = ", ".join(f"{number} {other}" for other, number in kinds.most_common()[1:])
        lines.append(f"! mixed: {count} {kind}, {others}")
    as_text = sum(bool(DIGITS.fullmatch(value)) for value in present)
    if as_text:
        lines.append(
            f"! {as_text} look like numbers written as text, such as {next(filter(DIGITS.fullmatch, present))}"
        )
    padded = sum(value != value.strip() for value in values)
    if padded:
        lines.append(f"! {padded} have blanks at an end")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    try:
        rows = list(itertools.islice(rows_of(given.file), MOST_ROWS + 1))
    except (OSError, ValueError, csv.Error) as error:
        sys.exit(f"{given.file} can't be read as a table: {error}")
    cut = " (the first of them)" if len(rows) > MOST_ROWS else ""
    names = list(dict.fromkeys(name for row in rows for name in row))
    print(f"# {given.file.name}: {len(rows)} rows{cut}, {len(names)} columns")
    doubled = len(rows) - len({tuple(row.get(name, "") for name in names) for row in rows})
    if doubled:
        print(f"! {doubled} rows are there more than once")
    for name in names:
        print("\n".join(described(name, [row.get(name, "") for row in rows])))


if __name__ == "__main__":
    main()
