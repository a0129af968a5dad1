#!/bin/sh
# Prints the jobs of an output of sacct without our code: a table with a header and the delimiter |, in UTC.
set -eu
exec python3 - "$1" <<'PYTHON'
import calendar, sys, time

def micros(text):
    if text in ("", "Unknown", "None"):
        return "-"
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S")) * 1000000

text = open(sys.argv[1], encoding="utf-8").read()
if "JobID|" in text.splitlines()[0]:
    lines = text.splitlines()
    names = lines[0].split("|")
    for line in lines[1:]:
        row = dict(zip(names, line.split("|")))
        if "." in row["JobID"]:
            continue
        start, end = micros(row["Start"]), micros(row["End"])
        if row["State"] in ("RUNNING", "PENDING", "SUSPENDED"):
            end = "-"
        if row["State"] == "PENDING":
            start = "-"
        print(row["JobIDRaw"], row["JobID"], micros(row["Submit"]), start, end)
PYTHON
