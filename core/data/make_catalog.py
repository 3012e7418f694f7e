#!/usr/bin/env python3
"""Makes the built-in agent catalog from the files in sources/ (`make catalog`).

    make_catalog.py            writes the files below
    make_catalog.py --check    compares them with the sources; exit status 1 if they differ

It writes:

  * catalog.json: the catalog, one feed or agent a line, so that a diff shows what a change of the sources changes;
  * catalog.compact.json: the same without what only people read (operator, docs). The gates embed this file;
  * feeds.json: when the files in feeds/ were fetched.

sources/agents.json lists feeds (name, operator, url, fetched_at) and agents (token, operator, category, feed, docs,
rdns_suffixes). sources/own.toml amends it; the comment at its start describes its keys.

  * Agents are sorted by token, without regard to case. Those that appear twice in agents.json become one, with the
    purposes, feeds and names of both.
  * The category of an agent becomes its one purpose, under the same name.
  * Every feed stays, also one that no agent names, because its addresses are still those of automation.
  * Tokens that no User-Agent has (Google-Extended) stay, because robots.txt groups name them.
  * Every service in sources/ipverse/ has its list among the feeds, or a reason in own.toml why it has not. A service
    whose addresses are those of a whole network never becomes a feed.
"""

import json
import sys
import tomllib
from pathlib import Path

DATA = Path(__file__).parent
SOURCES = DATA / "sources"
FEEDS = DATA / "feeds"

FEED_KEYS = ["name", "operator", "url", "former_urls", "format", "shape"]
AGENT_KEYS = ["token", "operator", "purposes", "feeds", "ranges", "begins", "control_token", "declares", "docs", "rdns", "keys"]
# What only people read.
DISPLAYED = {"operator", "docs"}
# What own.toml says of itself, or to its readers.
ASIDE = {"feeds": {"ipverse", "docs"}, "agents": {"tokens", "source", "note"}, "unused": {"ipverse", "note"}}


class Faulty(Exception):
    """The sources contradict each other or themselves."""


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    try:
        files = results()
    except Faulty as fault:
        sys.exit(f"make_catalog.py: {fault}")
    if not arguments:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        return
    stale = [path.name for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    if stale:
        sys.exit(f"make_catalog.py: {', '.join(stale)}: not what the sources give; run `make catalog`")


def results():
    """The text of each file, by its path."""
    export = json.loads((SOURCES / "agents.json").read_text(encoding="utf-8"))
    own = tomllib.loads((SOURCES / "own.toml").read_text(encoding="utf-8"))
    check_keys(own)
    feeds = make_feeds(export["feeds"], own["feeds"])
    agents = make_agents(export["agents"], own["agents"])
    check_names(feeds, agents)
    check_ipverse(feeds, own)
    source = f"{export['source']}; core/data/sources/own.toml"
    return {
        DATA / "catalog.json": document(source, feeds, agents, compact=False),
        DATA / "catalog.compact.json": document(source, feeds, agents, compact=True),
        DATA / "feeds.json": index(export, feeds),
    }


def check_keys(own):
    known = {
        "feeds": {*FEED_KEYS, *ASIDE["feeds"]},
        "agents": {*AGENT_KEYS, *ASIDE["agents"]} - {"token"},
        "unused": ASIDE["unused"],
    }
    for table, entries in own.items():
        for entry in entries:
            name = entry.get("name") or entry.get("tokens") or entry.get("ipverse")
            if unknown := entry.keys() - known.get(table, set()):
                raise Faulty(f"own.toml: {name}: unknown keys {sorted(unknown)}")
            # A fact has a source: the operator's page, or who reports it.
            proves = entry.keys() & {"name", "feeds", "rdns", "keys"}
            if proves and not entry.keys() & {"docs", "source"}:
                raise Faulty(f"own.toml: {name}: says how to prove it, but not where this is documented")
            if entry.get("ranges") == "partial" and "note" not in entry:
                raise Faulty(f"own.toml: {name}: a note must say why its ranges are partial")


def make_feeds(exported, own):
    by_name = {}
    for feed in exported:
        by_name[feed["name"]] = {key: feed[key] for key in ("name", "operator", "url")}
    amended = set()
    for entry in own:
        name = entry["name"]
        if name in amended:
            raise Faulty(f"own.toml: duplicate feed {name}")
        amended.add(name)
        feed = by_name.setdefault(name, {})
        if "url" in entry and entry["url"] == feed.get("url"):
            raise Faulty(f"own.toml: {name}: agents.json has the same URL")
        feed |= {key: value for key, value in entry.items() if key in FEED_KEYS or key == "ipverse"}
        if missing := {"name", "operator", "url"} - feed.keys():
            raise Faulty(f"own.toml: {name}: without {sorted(missing)}")
    return [by_name[name] for name in sorted(by_name)]


def make_agents(exported, own):
    by_token = {}
    for agent in exported:
        by_token.setdefault(agent["token"].lower(), []).append(agent)
    agents = {token: merged_agent(same) for token, same in by_token.items()}
    amended = set()
    for entry in own:
        for token in entry["tokens"]:
            folded = token.lower()
            if folded in amended:
                raise Faulty(f"own.toml: duplicate agent {token}")
            amended.add(folded)
            agent = agents.setdefault(folded, {"token": token})
            if agent["token"] != token:
                raise Faulty(f"own.toml: {token}: agents.json has it as {agent['token']}")
            agent |= {key: value for key, value in entry.items() if key in AGENT_KEYS}
            if "purposes" not in agent:
                raise Faulty(f"own.toml: {token}: agents.json does not have it, so it needs purposes")
            if "docs" not in agent and "source" not in entry:
                raise Faulty(f"own.toml: {token}: neither docs nor a source")
    return [agents[token] for token in sorted(agents)]


def merged_agent(same):
    """Entries with the same token as one."""
    operators = {agent["operator"] for agent in same}
    if len(operators) > 1:
        raise Faulty(f"agents.json: {same[0]['token']}: several operators: {sorted(operators)}")
    agent = {
        "token": same[0]["token"],
        "operator": same[0]["operator"],
        "purposes": merged([each["category"]] for each in same),
        "feeds": merged([each["feed"]] for each in same if each["feed"]),
        "rdns": merged(each["rdns_suffixes"] for each in same),
        "docs": next((each["docs"] for each in same if each["docs"]), None),
    }
    return {key: value for key, value in agent.items() if value}


def merged(lists):
    """All values of several lists, each once, in order of appearance."""
    return list(dict.fromkeys(value for values in lists for value in values))


def check_names(feeds, agents):
    names = {feed["name"] for feed in feeds}
    for agent in agents:
        if unknown := set(agent.get("feeds", [])) - names:
            raise Faulty(f"{agent['token']}: unknown feeds {sorted(unknown)}")
    urls = [url for feed in feeds for url in [feed["url"], *feed.get("former_urls", [])]]
    if twice := {url for url in urls if urls.count(url) > 1}:
        raise Faulty(f"several feeds with the URLs {sorted(twice)}")


def check_ipverse(feeds, own):
    services = {}
    for file in sorted((SOURCES / "ipverse").glob("*.json")):
        services |= json.loads(file.read_text(encoding="utf-8"))["services"]
    urls = {url for feed in feeds for url in [feed["url"], *feed.get("former_urls", [])]}
    named = {feed["ipverse"] for feed in feeds if "ipverse" in feed}
    unused = {entry["ipverse"] for entry in own["unused"]}
    if unknown := (named | unused) - services.keys():
        raise Faulty(f"own.toml: ipverse has no services {sorted(unknown)}")
    for name, service in services.items():
        is_feed = name in named or service["source_url"] in urls
        if is_feed and not service["ip_list_authoritative"]:
            raise Faulty(f"own.toml: the list of {name} is that of a whole network: it proves nobody")
        if is_feed == (name in unused):
            raise Faulty(f"own.toml: ipverse's service {name} must be a feed, or unused for a reason")


def document(source, feeds, agents, compact):
    text = ["{", f' "source": {json.dumps(source, ensure_ascii=False)},']
    for key, entries, keys in [("feeds", feeds, FEED_KEYS), ("agents", agents, AGENT_KEYS)]:
        kept = [name for name in keys if not (compact and name in DISPLAYED)]
        rows = [{name: entry[name] for name in kept if name in entry} for entry in entries]
        indent, separators = ("", (",", ":")) if compact else ("  ", (", ", ": "))
        lines = [indent + json.dumps(row, ensure_ascii=False, separators=separators) for row in rows]
        text += [f' "{key}": [', ",\n".join(lines), " ]" if key == "agents" else " ],"]
    return "\n".join(text + ["}"]) + "\n"


def index(export, feeds):
    """When each file in feeds/ was fetched."""
    fetched = {feed["name"]: feed["fetched_at"] for feed in export["feeds"]}
    names = {feed["name"] for feed in feeds}
    rows = []
    for file in sorted(FEEDS.glob("*.json")):
        if file.stem not in names or file.stem not in fetched:
            raise Faulty(f"feeds/{file.name}: no feed in agents.json has this name")
        row = {"name": file.stem, "file": file.name, "fetched": fetched[file.stem].replace("+00:00", "Z")}
        rows.append("  " + json.dumps(row))
    source = json.dumps(export["source"], ensure_ascii=False)
    head = ["{", f' "source": {source},', ' "licence": "CC0-1.0",', ' "feeds": [']
    return "\n".join([*head, ",\n".join(rows), " ]", "}"]) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
