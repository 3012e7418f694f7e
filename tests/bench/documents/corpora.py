"""Unpacks the corpora of `make bench-document` from clones of the repositories that publish them.

    corpora.py CLONES OUT

CLONES has the clones as OWNER/NAME. Each corpus becomes a directory of OUT: the pages (ID.html), and `truth.json`, which
says for each page what sort it is and what its content is. A corpus without a clone is left out. OUT/html5lib has the tests
of html5lib's tokenizer.
"""

import gzip
import io
import json
import subprocess
import sys
import tarfile
from html.parser import HTMLParser
from pathlib import Path

# Elements that stand in a line of text, so that no word ends with them.
INLINE = set("a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr".split())


class Text(HTMLParser):
    """The text of a page."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_starttag(self, tag, attrs):
        if tag not in INLINE:
            self.parts.append("\n")

    handle_endtag = lambda self, tag: self.handle_starttag(tag, [])

    def handle_data(self, data):
        self.parts.append(data)


def text_of(html):
    parser = Text()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)


def files(clone, *paths):
    """The files of a clone, bare or not, at its newest commit."""
    archive = subprocess.run(["git", "-C", clone, "archive", "HEAD", *paths], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def articles(clone):
    """News and blogs, with the text of each article. A third is kept for the last measurement."""
    all = files(clone, "html", "ground-truth.json")
    truth = json.loads(all["ground-truth.json"])
    for id in sorted(truth):
        sort = "kept article" if int(id[:8], 16) % 3 == 0 else "article"
        yield id, gzip.decompress(all[f"html/{id}.html.gz"]), {"sort": sort, "text": truth[id]["articleBody"]}


def typed(part):
    def read(clone):
        """Pages of seven sorts, with the text of what each is about."""
        all = files(clone, f"{part}/html", f"{part}/ground-truth")
        for name in sorted(all):
            if not name.endswith(".json"):
                continue
            id = Path(name).stem
            page = json.loads(all[name])
            sort = ((page.get("_internal") or {}).get("page_type") or {}).get("primary") or "article"
            html = all.get(f"{part}/html/{id}.html.gz")
            if html is not None:
                text = page["ground_truth"].get("main_content") or ""
                yield id, gzip.decompress(html), {"sort": "collection" if sort == "category" else sort, "text": text}

    return read


def readability(clone):
    """The test pages of Mozilla's Readability, with what it makes of them."""
    all = files(clone, "test/test-pages")
    for name in sorted(all):
        if name.endswith("/source.html"):
            expected = all[name.replace("source.html", "expected.html")].decode()
            yield name.split("/")[-2], all[name], {"sort": "readability", "text": text_of(expected)}


def snippets(clone):
    """The pages that trafilatura is developed with: text that belongs to each, and text that does not."""
    all = files(clone, "tests/eval", "tests/cache", "tests/evaldata.json")
    for page in json.loads(all["tests/evaldata.json"]).values():
        html = next((all[path] for path in (f"tests/eval/{page['file']}", f"tests/cache/{page['file']}") if path in all), None)
        if html is not None:
            id = Path(page["file"]).stem.replace("/", "_")
            yield id, html, {"sort": "snippets", "with": page["with"], "without": page["without"]}


CORPORA = {
    "articles": ("scrapinghub/article-extraction-benchmark", articles),
    "types": ("Murrough-Foley/web-content-extraction-benchmark", typed("dev")),
    "types-kept": ("Murrough-Foley/web-content-extraction-benchmark", typed("test")),
    "readability": ("mozilla/readability", readability),
    "snippets": ("adbar/trafilatura", snippets),
}


# The tests of the tokenizer, which are not pages: html5lib/*.test.
TESTS = "html5lib/html5lib-tests"


def unpack_tests(clone, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files(clone, "tokenizer").items():
        if name.endswith(".test"):
            (folder / Path(name).name).write_bytes(content)


def main():
    clones, out = map(Path, sys.argv[1:])
    if (clones / TESTS).exists():
        unpack_tests(clones / TESTS, out / "html5lib")
    else:
        print(f"corpora: not all tests of the tokenizer: clone https://github.com/{TESTS} into {clones / TESTS}", file=sys.stderr)
    for name, (repository, read) in CORPORA.items():
        clone, folder = clones / repository, out / name
        if (folder / "truth.json").exists():
            continue
        if not clone.exists():
            print(f"corpora: no {name}: clone https://github.com/{repository} into {clone}", file=sys.stderr)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        truth = {}
        for id, html, page in read(clone):
            (folder / f"{id}.html").write_bytes(html)
            truth[id] = page
        (folder / "truth.json").write_text(json.dumps(truth, ensure_ascii=False))
        print(f"corpora: {name}: {len(truth)} pages")


if __name__ == "__main__":
    main()
