#!/usr/bin/env python3
"""Draws the pictures of the book into docs/pictures, the plots from the tables in docs/benchmarks.md and
docs/simulation.md, and the recording of the demo from docs/pictures/demo.txt.

`make pictures` runs it; with --check it only compares. The same input gives the same bytes.
"""

import html
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "docs/pictures"

STYLE = """
text { font: 14px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2933 }
.small { font-size: 12px; fill: #52606d }
.head { font-weight: 600 }
.box { fill: #f5f7fa; stroke: #7b8794; stroke-width: 1.2 }
.core { fill: #e3f2fd; stroke: #1e6bb8 }
.good { fill: #e3f9e5; stroke: #2f8132 }
.bad { fill: #fdeaea; stroke: #ba2525 }
.line { stroke: #52606d; stroke-width: 1.4; fill: none }
.tip { fill: #52606d }
.bar { fill: #1e6bb8 } .peer { fill: #b8c4d0 }
@media (prefers-color-scheme: dark) {
  text { fill: #e4e7eb } .small { fill: #9aa5b1 }
  .box { fill: #1f2933; stroke: #7b8794 } .core { fill: #10304f; stroke: #5ba7e6 }
  .good { fill: #123d18; stroke: #57ae5b } .bad { fill: #4a1515; stroke: #e66a6a }
  .line { stroke: #9aa5b1 } .tip { fill: #9aa5b1 }
  .bar { fill: #5ba7e6 } .peer { fill: #52606d }
}
"""


# What a terminal shows is light on dark, wherever the picture is. Its lines come one after the other, and stay.
TERMINAL = """
text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d6dde5; white-space: pre }
.screen { fill: #14181d; stroke: #3e4c59 }
.typed { fill: #ffffff; font-weight: 600 } .allow { fill: #8fdc95 } .deny { fill: #ff9b9b }
.line { animation: come 1ms linear both }
@keyframes come { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { .line { animation: none } }
@media print { .line { animation: none } }
"""


MONOSPACE = ".mono { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }"


CURVES = """
.curve { fill: none; stroke-width: 2.2 } .grid { stroke: #b8c4d0; stroke-width: 0.6 }
.of0 { stroke: #ba2525 } .of1 { stroke: #1e6bb8 } .of2 { stroke: #2f8132 } .of3 { stroke: #8a5a00 }
@media (prefers-color-scheme: dark) {
  .grid { stroke: #3e4c59 }
  .of0 { stroke: #e66a6a } .of1 { stroke: #5ba7e6 } .of2 { stroke: #57ae5b } .of3 { stroke: #e0a030 }
}
"""


class Picture:
    """A picture of boxes, arrows and words."""

    def __init__(self, name, title, description, width, height, style=STYLE):
        self.name, self.title, self.description = name, title, description
        self.width, self.height = width, height
        self.style = style
        self.parts = []

    def text(self, x, y, text, kind="", anchor="middle"):
        """Writes one line, with its baseline at y."""
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{html.escape(text)}</text>')

    def box(self, x, y, width, height, lines, kind=""):
        """Draws a box with lines in its middle. The first one is a heading."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" class="box {kind}"/>')
        top = y + height / 2 - (len(lines) - 1) * 9 + 5
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 18 * number, line, "head" if number == 0 else "small")

    def arrow(self, points, label="", at=None, anchor="middle"):
        """Draws a line through points, with a tip at its end."""
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="line" marker-end="url(#tip)"/>')
        if label:
            x, y = at or ((points[0][0] + points[-1][0]) / 2, (points[0][1] + points[-1][1]) / 2 - 6)
            self.text(x, y, label, "small", anchor)

    def bar(self, x, y, width, height, kind):
        """Draws a bar of a plot."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{max(width, 1):.1f}" height="{height}" rx="2" class="{kind}"/>')

    def svg(self):
        """The file."""
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" aria-labelledby="title desc">\n'
            f'<title id="title">{html.escape(self.title)}</title>\n<desc id="desc">{html.escape(self.description)}</desc>\n'
            f"<style>{self.style}</style>\n"
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
            'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="tip"/></marker></defs>\n'
            f"{body}\n</svg>\n"
        )


def way_of_a_request():
    """What happens to a request in any gate."""
    p = Picture(
        "request",
        "The way of a request",
        "A request gets an identity. People pass. For automated clients the policy decides: the origin gets the request with "
        "the header X-Crawlpike, or the client gets a denial with the reason and the rule.",
        860, 330,
    )
    p.box(20, 130, 140, 64, ["request", "any client"])
    p.box(200, 110, 180, 104, ["who is it?", "User-Agent: the claim", "address: the proof,", "by published ranges"], "core")
    p.box(460, 110, 190, 104, ["what may it do?", "robots.txt", "automation-preferences.txt", "agent, place, purpose"], "core")
    p.box(720, 20, 120, 64, ["origin", "serves the page"], "good")
    p.box(720, 240, 120, 64, ["403", "reason and rule"], "bad")
    p.arrow([(160, 162), (200, 162)])
    p.arrow([(380, 162), (460, 162)], "automated", (418, 154))
    p.arrow([(295, 110), (295, 52), (720, 52)], "a person: nothing is changed", (500, 44))
    p.arrow([(650, 140), (690, 140), (690, 70), (720, 70)], "allow, with X-Crawlpike", (700, 112), "start")
    p.arrow([(650, 184), (690, 184), (690, 272), (720, 272)], "deny", (700, 230), "start")
    p.box(20, 240, 140, 64, ["feeds", "fetched beforehand"])
    p.arrow([(160, 272), (295, 272), (295, 214)], "no network while a request waits", (310, 290), "start")
    return p


def states_of_a_feed():
    """Which version of a feed is in force."""
    p = Picture(
        "feed",
        "The states of a feed",
        "A new version that is good is in force and becomes the last good version. One that the guard holds, or that is not a "
        "feed, leaves the last good version in force. A feed older than max_age proves nobody and makes nobody spoofed.",
        860, 300,
    )
    p.box(20, 110, 140, 70, ["new version", "from the publisher"])
    p.box(230, 110, 150, 70, ["reader and guard", "too small? too large?", "a feed at all?"], "core")
    p.box(470, 20, 160, 64, ["ok", "the newest is in force"], "good")
    p.box(470, 112, 160, 72, ["incomplete", "verifies the others,", "makes nobody spoofed"], "good")
    p.box(470, 212, 160, 64, ["held", "the last good is in force"], "bad")
    p.box(700, 116, 140, 64, ["stale", "verifies nobody,", "nobody is spoofed"], "bad")
    p.arrow([(160, 145), (230, 145)])
    p.arrow([(380, 130), (425, 130), (425, 52), (470, 52)], "good", (432, 46))
    p.arrow([(380, 148), (470, 148)], "partly read", (425, 142))
    p.arrow([(380, 165), (425, 165), (425, 244), (470, 244)], "suspicious", (432, 262))
    p.arrow([(630, 52), (770, 52), (770, 116)], "older than max_age", (700, 44))
    p.arrow([(630, 244), (770, 244), (770, 180)])
    return p


def gates():
    """One core in three gates."""
    p = Picture(
        "gates",
        "One core, three gates",
        "The configuration, the feeds and the policies are compiled into a ruleset. The nginx module, the Wasm filter and the "
        "native module of Envoy decide by the same core, and give the same decision.",
        860, 300,
    )
    p.box(20, 20, 170, 60, ["crawlpike.json", "one document"])
    p.box(20, 110, 170, 60, ["feeds", "ranges and places"])
    p.box(20, 200, 170, 60, ["policies", "robots.txt and others"])
    p.box(280, 95, 170, 90, ["core", "compiles the ruleset,", "decides each request"], "core")
    p.box(540, 20, 300, 60, ["nginx module", "loads into the nginx that you have"])
    p.box(540, 110, 300, 60, ["Wasm filter", "Envoy, Istio, Envoy Gateway: in a sandbox"])
    p.box(540, 200, 300, 60, ["native module of Envoy", "no sandbox, one ruleset for all workers"])
    for y in (50, 140, 230):
        p.arrow([(190, y), (235, y), (235, 140), (280, 140)] if y != 140 else [(190, 140), (280, 140)])
        p.arrow([(450, 140), (495, 140), (495, y), (540, y)] if y != 140 else [(450, 140), (540, 140)])
    p.text(365, 215, "the same decision,", "small")
    p.text(365, 232, "byte for byte", "small")
    return p


def demo(output):
    """What `make demo` prints, as a terminal shows it."""
    lines = output.splitlines()
    p = Picture(
        "demo",
        "What make demo shows",
        "Each line is a client: its address, its identity, what is decided, and the status that nginx, both gates of Envoy and "
        "crawlpike serve answer. Verified agents and browsers are allowed; whoever only says that he is Googlebot is denied.",
        860, 62 + 18 * len(lines), TERMINAL,
    )
    p.parts.append(f'<rect x="1" y="1" width="858" height="{p.height - 2}" rx="8" class="screen"/>')
    for number, line in enumerate(["$ make demo", *lines]):
        action = re.search(r" (allow|deny) ", line)
        kind = " ".join(["line", "typed" if number == 0 else action.group(1) if action else ""]).strip()
        seconds = 0.5 + 0.25 * number if number else 0
        p.parts.append(
            f'<text x="20" y="{32 + 18 * number}" class="{kind}" textLength="{8.2 * len(line):.1f}" '
            f'style="animation-delay:{seconds:g}s">{html.escape(line)}</text>'
            if line else ""
        )
    return p


def document(markdown):
    """A page, and what is sent of it. The page is document/tests/pages/shop.html."""
    p = Picture(
        "document",
        "A page and its markdown",
        "Of the page of a shop, the title, the price, the features, the description and the table are in the markdown. The search, the "
        "links to the cart and the login, what others bought and the footer are not.",
        860, 480, STYLE + MONOSPACE,
    )
    p.text(220, 24, "the page: 1.2 KB of HTML", "head")
    p.text(650, 24, "its markdown: 0.3 KB", "head")
    top = 40
    for height, lines, kind in [
        (30, ["Search · Cart (0) · Log in"], "bad"),
        (48, ["Steel kettle 1.7 l", "39.90 €"], "good"),
        (66, ["Boils a litre in two minutes", "Switches itself off", "Two years of warranty"], "good"),
        (66, ["Description", "A kettle of brushed steel that boils 1.7 litres of", "water, keeps it warm for an hour, and is quiet …"], "good"),
        (48, ["Power: 2200 W", "Weight: 1.1 kg"], "good"),
        (30, ["Add to cart"], "bad"),
        (48, ["Others bought", "Teapot 19.90 € · Cup 4.90 €"], "bad"),
        (30, ["Free returns within 30 days."], "bad"),
    ]:
        p.box(20, top, 400, height, lines, kind)
        top += height + 6
    p.arrow([(424, 180), (456, 180)])
    p.box(460, 40, 380, top - 46, [])
    lines = [part for line in markdown.splitlines() for part in textwrap.wrap(line, 48) or [""]]
    for number, line in enumerate(lines):
        p.text(474, 62 + 19 * number, line, "mono", "start")
    return p


def table(page, heading, first_cell):
    """The rows of the first table behind a heading whose head has that cell, as lists of cells."""
    behind = page.split(f"\n{heading}\n", 1)[1]
    for block in re.findall(r"(?:^\|.*\n)+", behind, re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
        if any(first_cell in cell for cell in rows[0]):
            return rows
    raise SystemExit(f"pictures: no page has such a table behind {heading!r}")


def number(cell):
    """The first number of a cell."""
    found = re.search(r"[0-9][0-9,]*(?:\.[0-9]+)?", cell)
    return float(found.group().replace(",", "")) if found else 0.0


def plot(name, title, rows, unit):
    """Groups of bars: a group for each column, a bar for each row."""
    kinds, candidates = rows[0][1:], [row for row in rows[2:]]
    height = 60 + len(kinds) * (len(candidates) * 22 + 34)
    p = Picture(name, title, f"{title}. The numbers are in the table on the page.", 860, height)
    p.text(20, 28, f"{title} ({unit})", "head", "start")
    most = max(number(cell) for row in candidates for cell in row[1:]) or 1.0
    y = 58
    for column, kind in enumerate(kinds, 1):
        p.text(20, y, kind, "small", "start")
        y += 10
        for row in candidates:
            value = number(row[column])
            p.text(300, y + 13, re.sub(r"[`*]", "", row[0])[:44], "small", "end")
            p.bar(310, y + 2, 440 * value / most, 15, "bar" if "crawlpike" in row[0].lower() else "peer")
            shown = f"{value:,.0f}" if value >= 100 else f"{value:g}"
            p.text(318 + 440 * value / most, y + 14, shown, "small", "start")
            y += 22
        y += 24
    return p


def curves(name, title, rows):
    """A curve for each column of percentages, over those of the first one."""
    p = Picture(name, title, f"{title}. The numbers are in the table on the page.", 860, 400, STYLE + CURVES)
    p.text(20, 28, f"{title} (%)", "head", "start")
    most = max(number(cell) for row in rows[2:] for cell in row[1:]) or 1.0
    place = lambda limit, share: (60 + 5.2 * limit, 350 - 300 * share / most)
    for share in range(0, int(most) + 1, 10):
        _, y = place(0, share)
        p.parts.append(f'<path d="M60 {y:.1f}H528" class="grid"/>')
        p.text(52, y + 4, str(share), "small", "end")
    for row in rows[2:]:
        p.text(place(number(row[0]), 0)[0], 370, row[0], "small")
    p.text(294, 390, "limit", "small")
    for column, kind in enumerate(rows[0][1:], 1):
        points = (place(number(row[0]), number(row[column])) for row in rows[2:])
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        p.parts.append(f'<polyline points="{line}" class="curve of{column - 1}"/>')
        y = 60 + 42 * column
        p.parts.append(f'<path d="M556 {y - 4}H580" class="curve of{column - 1}"/>')
        for offset, part in enumerate(textwrap.wrap(kind, 36)):
            p.text(588, y + 16 * offset, part, "small", "start")
    return p


def lookups(page):
    """The times in the largest table of prefixes, without its row of ratios."""
    rows = table(page, "**v4, 1,000,000 like the routing table, 20,000 values**", "inside")
    return [[row[0], *row[3:]] for row in rows if "best peer" not in row[0]]


def decisions(page):
    """A row for each candidate, a column for each client."""
    head, rule, *clients = table(page, "## Decisions", "decide")
    candidates = enumerate(["Crawlpike, the whole decision", *head[2:]], 1)
    shown = [[name, *(client[column] for client in clients)] for column, name in candidates]
    return [["", *(client[0] for client in clients)], rule, *shown]


def main(check):
    """Draws everything, or finds what is out of date."""
    OUT.mkdir(exist_ok=True)
    page = (ROOT / "docs/benchmarks.md").read_text()
    year = (ROOT / "docs/simulation.md").read_text()
    pictures = [
        way_of_a_request(),
        states_of_a_feed(),
        gates(),
        demo((OUT / "demo.txt").read_text()),
        document((ROOT / "document/tests/pages/shop.md").read_text()),
        plot("nginx", "Requests per second in nginx", table(page, "## The nginx gate", "browser"), "more is better"),
        plot("envoy", "Instructions added in Envoy", table(page, "## The Envoy gate", "browser"), "less is better"),
        plot("serve", "Microseconds of processor a request, with other proxies", table(page, "## Other proxies", "browser"), "less is better"),
        plot("lookups", "Nanoseconds a lookup among a million prefixes", lookups(page), "less is better"),
        plot("decisions", "Nanoseconds a decision", decisions(page), "less is better"),
        curves("shrink", "Lists that shrink: genuine crawlers denied, and alarms, by the limit shrink", table(year, "### `shrink`", "`shrink`")),
        curves("replace", "Lists that change: genuine crawlers denied, and alarms, by the limit replace", table(year, "### `replace`", "`replace`")),
    ]
    for picture in pictures:
        file = OUT / f"{picture.name}.svg"
        if not check:
            file.write_text(picture.svg())
        elif not file.exists() or file.read_text() != picture.svg():
            raise SystemExit(f"pictures: {file.relative_to(ROOT)} is out of date; run make pictures")


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
