"""Prints a table of mutants by the part of the core, and those that no test caught.

    table.py DIRECTORY      the output of cargo-mutants, after several runs with --iterate
"""

import sys
from collections import Counter
from pathlib import Path

# The share of mutants that tests must catch.
LEAST = 0.97


def names(path):
    return set(path.read_text().splitlines()) if path.exists() else set()


def main():
    out = Path(sys.argv[1])
    missed = names(out / "missed.txt")
    # What one kind of tests missed and the next one caught is in both lists of earlier runs.
    caught = (names(out / "caught.txt") | names(out / "timeout.txt") | names(out / "previously_caught.txt")) - missed
    count = {kind: Counter(name.split("/")[2] for name in found) for kind, found in [("caught", caught), ("missed", missed)]}
    print("| part | mutants | caught | |\n|---|---|---|---|")
    for part in sorted(count["caught"] | count["missed"]):
        is_caught, all_of_it = count["caught"][part], count["caught"][part] + count["missed"][part]
        print(f"| `{part}` | {all_of_it} | {is_caught} | {100 * is_caught / all_of_it:.0f} % |")
    share = len(caught) / max(1, len(caught) + len(missed))
    print(f"| all | {len(caught) + len(missed)} | {len(caught)} | {100 * share:.1f} % |\n")
    for name in sorted(missed):
        print(f"missed: {name}")
    return share < LEAST


if __name__ == "__main__":
    sys.exit(main())
