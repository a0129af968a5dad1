"""Shows users of Open OnDemand their own jobs on Lustre.

Open OnDemand runs this file as the user. So the kernel identifies the user to jobstats-console serve, which must run on the same machine.
"""

import http.client
import os
import socket

SOCKET = os.environ.get("JOBSTATS_SOCKET", "/run/jobstats/console.sock")
HEADERS = ("content-type", "content-security-policy", "cache-control", "referrer-policy", "x-content-type-options")


class Connection(http.client.HTTPConnection):
    """A connection to the socket of the service."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def application(environ, start_response):
    """Passes a request on."""
    if environ["REQUEST_METHOD"] != "GET":
        start_response("405 Method Not Allowed", [("Allow", "GET")])
        return [b""]
    base = environ.get("SCRIPT_NAME", "")
    if not environ.get("PATH_INFO"):
        # Links are relative to this address.
        start_response("301 Moved Permanently", [("Location", base + "/")])
        return [b""]
    # REQUEST_URI is the address as the browser sent it; PATH_INFO is decoded.
    address = environ["REQUEST_URI"]
    if address.startswith(base):
        address = address[len(base):]
    try:
        connection = Connection("localhost", timeout=150)
        connection.request("GET", address)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        start_response("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
        return ["no answer from jobstats-console serve at {}: {}\n".format(SOCKET, error).encode()]
    headers = [(name, value) for name, value in response.getheaders() if name.lower() in HEADERS]
    start_response("{} {}".format(response.status, response.reason), headers)
    return [body]
