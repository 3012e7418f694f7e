"""Prints a table of the lines and regions of the core that tests run, by its parts.

    cargo llvm-cov report --json --summary-only | coverage.py
"""

import json
import sys
from collections import defaultdict


def main():
    counts = defaultdict(lambda: [0, 0, 0, 0])
    for file in json.load(sys.stdin)["data"][0]["files"]:
        _, in_core, path = file["filename"].partition("/core/src/")
        if not in_core or path.endswith("tests.rs") or "/tests/" in path:
            continue
        lines, regions = file["summary"]["lines"], file["summary"]["regions"]
        for part in path.split("/")[0].removesuffix(".rs"), "all":
            numbers = lines["count"], lines["covered"], regions["count"], regions["covered"]
            counts[part] = [sum(pair) for pair in zip(counts[part], numbers)]
    print("| part | lines | run | regions | run |\n|---|---|---|---|---|")
    for part, (lines, lines_run, regions, regions_run) in sorted(counts.items(), key=lambda one: (one[0] == "all", one[0])):
        if lines:
            name = part if part == "all" else f"`{part}`"
            print(f"| {name} | {lines} | {100 * lines_run / lines:.1f} % | {regions} | {100 * regions_run / regions:.1f} % |")


if __name__ == "__main__":
    main()
