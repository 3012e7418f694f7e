#!/usr/bin/env python3
"""Makes catalog.json, the built-in agent catalog, from an export of the AI Crawler Index.

    python3 make_catalog.py agents.json > catalog.json

The export lists feeds (name, operator, url) and agents (token, operator, category, feed, docs,
rdns_suffixes, ...). This script keeps what the catalog needs, one agent a line, so that a diff shows
which agents a new export changes:

  * agents are sorted by token, without regard to case; those that appear twice become one, with the
    purposes, feeds and names of both;
  * the category becomes the agent's one purpose, under the same name;
  * an agent without a feed names none: nothing can prove it by address;
  * every feed stays, also one that no agent names, because its addresses are still those of automation;
  * tokens that no User-Agent carries (Google-Extended) stay, because robots.txt groups name them.
"""

import json
import sys


def merged(lists):
    """All values of several lists, each once, in order of appearance."""
    return list(dict.fromkeys(value for values in lists for value in values))


def one_a_line(values):
    return ",\n".join("  " + json.dumps(value, ensure_ascii=False) for value in values)


def main(path):
    with open(path, encoding="utf-8") as file:
        export = json.load(file)

    by_token = {}
    for agent in export["agents"]:
        by_token.setdefault(agent["token"].lower(), []).append(agent)

    agents = []
    for _, same in sorted(by_token.items()):
        operators = {agent["operator"] for agent in same}
        if len(operators) > 1:
            sys.exit(f"{same[0]['token']}: several operators: {sorted(operators)}")
        agent = {"token": same[0]["token"], "operator": same[0]["operator"]}
        agent["purposes"] = merged([each["category"]] for each in same)
        feeds = merged([each["feed"]] for each in same if each["feed"])
        rdns = merged(each["rdns_suffixes"] for each in same)
        docs = next((each["docs"] for each in same if each["docs"]), None)
        if feeds:
            agent["feeds"] = feeds
        if docs:
            agent["docs"] = docs
        if rdns:
            agent["rdns"] = rdns
        agents.append(agent)

    feeds = [
        {key: feed[key] for key in ("name", "operator", "url")}
        for feed in sorted(export["feeds"], key=lambda feed: feed["name"])
    ]

    print("{")
    print(f' "source": {json.dumps(export["source"], ensure_ascii=False)},')
    print(' "feeds": [\n' + one_a_line(feeds) + "\n ],")
    print(' "agents": [\n' + one_a_line(agents) + "\n ]")
    print("}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
