"""Runs the peers in Python over a corpus.

    peers.py CORPUS OUT

Writes, for each peer, OUT/TOOL.json: its version, its text of each page, and the seconds of a processor that it took for all. What is there
already stays.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import html_text
import lxml.html
import readability
import trafilatura


def with_trafilatura(comments):
    return lambda page: trafilatura.extract(page, include_comments=comments) or ""


def with_readability(page):
    return readability.Document(page).summary(html_partial=True)


def main():
    corpus, out = map(Path, sys.argv[1:])
    truth = json.loads((corpus / "truth.json").read_text())
    # The benchmark of articles counts comments as none of the article.
    comments = corpus.name != "articles"
    tools = {
        "trafilatura": ("trafilatura", with_trafilatura(comments), str),
        "readability-lxml": ("readability-lxml", with_readability, html_text.extract_text),
    }
    out.mkdir(parents=True, exist_ok=True)
    for tool, (package, extract, finish) in tools.items():
        file = out / f"{tool}.json"
        if file.exists():
            continue
        texts, seconds = {}, 0.0
        for id in truth:
            page = (corpus / f"{id}.html").read_bytes().decode("utf-8", "replace")
            start = time.process_time()
            try:
                text = extract(page)
            except (lxml.etree.LxmlError, readability.readability.Unparseable, ValueError, TypeError):
                text = ""
            seconds += time.process_time() - start
            texts[id] = finish(text) if text else ""
        file.write_text(json.dumps({"version": version(package), "seconds": seconds, "texts": texts}, ensure_ascii=False))


if __name__ == "__main__":
    main()
