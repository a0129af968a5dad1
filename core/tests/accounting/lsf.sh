#!/bin/sh
# The jobs of lsb.acct, made with python alone: job label submitted started ended, in microseconds.
set -eu
exec python3 - "$1" <<'PYTHON'
import re
import sys

text = open(sys.argv[1]).read()
text = re.sub("!\n ", "", text)
for record in re.split(r'\n(?="[A-Z])', text):
    fields = re.findall(r'"((?:[^"]|"")*)"|([^\s"]+)', record)
    fields = [quoted or word for quoted, word in fields]
    if fields[0] != "JOB_FINISH":
        continue
    asked = int(fields[22])
    hosts = int(fields[23 + asked])
    after = 24 + asked + hosts
    index = int(fields[after + 4 + 19 + 6])
    if index < 0:
        continue
    label = fields[3] + (f"[{index}]" if index else "")
    times = [fields[7], fields[10], fields[2]]
    print(fields[3], label, *(time + "000000" if int(time) else "-" for time in times))
PYTHON
