"""Reads exported files with DuckDB, and prints what they have as JSON: export.rs compares that with the store."""

import json
import sys

import duckdb

files, key = sys.argv[1:]
connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
connection.execute("CREATE TABLE work AS FROM read_parquet(?, filename = true)", [files])


def rows(statement):
    return connection.execute(statement).fetchall()


columns = {name: kind for name, kind, *_ in rows("DESCRIBE work") if name != "filename"}
numbers = list(columns)[list(columns).index("pid") + 1:]
sums = ", ".join(f'sum("{name}")::VARCHAR' for name in numbers)
day = "parse_filename(filename, true)"
print(json.dumps({
    "columns": columns,
    "sums": {row[0]: {name: value for name, value in zip(numbers, row[1:]) if value is not None}
             for row in rows(f"SELECT {day}, {sums} FROM work GROUP BY ALL")},
    "spans": rows(f"SELECT {day}, min(since)::VARCHAR, max(until)::VARCHAR FROM work GROUP BY ALL ORDER BY 1"),
    "groups": rows(f"""
        SELECT {day}, target, job, uid::VARCHAR, user_name, account, job_name, node, sum(write_bytes)::VARCHAR FROM work
        GROUP BY ALL HAVING sum(write_bytes) > 0"""),
    "about": [value.decode() for (value,) in connection.execute(
        "SELECT DISTINCT value FROM parquet_kv_metadata(?) WHERE key = ?", [files, key]).fetchall()],
}))
