#!/usr/bin/env python3
"""Prints one report of what the benchmarks left in a directory: the machine, the versions, what was not faster, and all tables.

    tests/bench/report.py DIRECTORY      with bench-core.txt, bench-nginx.md, bench-envoy.md, bench-serve.md, bench-signatures.md, bench-document.md
"""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PARTS = {
    "bench-core.txt": "The core",
    "bench-nginx.md": "The nginx gate",
    "bench-envoy.md": "The Envoy gate",
    "bench-serve.md": "Other proxies",
    "bench-signatures.md": "Signatures",
    "bench-document.md": "Documents",
}


def said(*command):
    """The first line that a program prints about itself."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return "not found"
    return ((done.stdout + done.stderr).strip().splitlines() or ["unknown"])[0]


def setting(file, key, separator):
    """The value of the first line in a file of the system that begins with the key."""
    try:
        lines = pathlib.Path(file).read_text().splitlines()
    except OSError:
        return "unknown"
    values = (line.split(separator, 1)[1].strip().strip('"') for line in lines if line.startswith(key))
    return next(values, "unknown")


def circumstances():
    """What the numbers depend on."""
    return {
        "processor": f"{setting('/proc/cpuinfo', 'model name', ':')}, {os.cpu_count()} cores for us",
        "memory": setting("/proc/meminfo", "MemTotal", ":"),
        "load at the end": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "system": f"{setting('/etc/os-release', 'PRETTY_NAME', '=')}, Linux {platform.release()}",
        "Rust": said("rustc", "--version"),
        "nginx": said("target/tools/nginx", "-v"),
        "Envoy": said("target/tools/envoy", "--version").split(":", 1)[-1].strip(),
        "commit": said("git", "describe", "--always", "--dirty", "--abbrev=12"),
        "day": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def slower_in_core(text):
    """The columns of lookup tables in which the best peer is ahead."""
    title, columns = "", []
    for before, line in zip([""] + text.splitlines(), text.splitlines()):
        if "bytes/prefix" in line:
            title, columns = before, re.split(r"\s{2,}", line.strip())
        elif line.startswith("best peer / ours"):
            for column, ratio in zip(columns, line.removeprefix("best peer / ours").split()):
                if float(ratio) < 1:
                    yield f"{title}: {column}, {ratio} of the best peer"


def slower_in_gate(text):
    """The candidates that were ahead of Crawlpike in requests per second, without the bare server."""
    kind, rows = "", []
    for line in text.splitlines() + ["## "]:
        if line.startswith("## "):
            for name, rate in rows:
                ahead = [f"{peer} ({other:,.0f})" for peer, other in rows[1:] if other > rate and "Crawlpike" not in peer]
                if "Crawlpike" in name and ahead:
                    yield f"{kind}: {name} ({rate:,.0f} requests/s) was slower than {', '.join(ahead)}"
            kind, rows = line.removeprefix("## "), []
        elif row := re.fullmatch(r"\| (.+?) \| ([0-9.]+) \| [0-9.]+ \| .*", line):
            rows.append((row[1], float(row[2])))


def main(directory):
    """Prints the report."""
    texts = {name: directory / name for name in PARTS}
    texts = {name: path.read_text() for name, path in texts.items() if path.exists()}
    if not texts:
        raise SystemExit(f"bench: {directory} has no results; run make bench")
    print("# Benchmarks\n\n| | |\n|---|---|")
    for what, value in circumstances().items():
        print(f"| {what} | {value} |")
    slower = []
    for name, text in texts.items():
        slower += (slower_in_core if name.endswith(".txt") else slower_in_gate)(text)
    print("\n## What was not faster\n")
    print("\n".join(f"- {line}" for line in slower) or "Nothing.")
    for name, text in texts.items():
        if name.endswith(".txt"):
            body = f"```\n{text.strip()}\n```"
        else:
            # The headings of each report are below the one that it has here.
            body = re.sub("^## ", "### ", re.sub("^# .*\n", "", text), flags=re.MULTILINE).strip()
        print(f"\n## {PARTS[name]}\n\n{body}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
