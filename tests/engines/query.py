"""Runs a query of examples/report with the engine that its name says, and prints a row of JSON a line."""

import json
import pathlib
import sys

query = pathlib.Path(sys.argv[1])
if query.name.endswith(".duckdb.sql"):
    import duckdb

    result = duckdb.sql(query.read_text())
    for row in result.fetchall():
        print(json.dumps(dict(zip(result.columns, row))))
else:
    # The engine by itself: the package around it needs pandas.
    from chdb import _chdb

    settings = " SETTINGS output_format_json_quote_64bit_integers = 0"
    result = _chdb.query(query.read_text() + settings, "JSONEachRow")
    rows = result.bytes()
    if not rows:
        sys.exit(f"no rows: {result.error_message()}")
    sys.stdout.buffer.write(rows)
