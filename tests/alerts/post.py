"""Posts alerts to Alertmanager and compares what it has then.

    post.py URL FILE
"""

import json
import sys
import time
import urllib.error
import urllib.request

address, file = sys.argv[1:]
with open(file, "rb") as alerts:
    body = alerts.read()


def ask(path, body=None):
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address + path, body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


# A program that has just been started takes a while.
for attempt in range(300):
    try:
        ask("/-/ready")
        break
    except (urllib.error.URLError, ConnectionError) as error:
        problem = error
        time.sleep(0.2)
else:
    sys.exit(f"Alertmanager does not answer: {problem}")

try:
    ask("/api/v2/alerts", body)
except urllib.error.HTTPError as error:
    sys.exit(f"refused: {error.read().decode()}")


def comparable(alerts):
    return sorted(json.dumps([one["labels"], one["annotations"]["summary"]], sort_keys=True) for one in alerts)


sent, kept = json.loads(body), json.loads(ask("/api/v2/alerts"))
if len(sent) != 2 or comparable(sent) != comparable(kept):
    sys.exit(f"sent {sent}, kept {kept}")
print(f"{len(kept)} alerts")
