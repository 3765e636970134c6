"""The collector: takes in reports over HTTP, keeps sums, and prints what they say. It never sees an answer.

    python collector.py 8000          then GET /estimate

Every report gets the same reply, valid or not; bad ones are counted, and neither shown nor logged.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from question import QUESTION, RANDOMIZER

MOST_BYTES = 1 << 16
ANALYSER = RANDOMIZER.analyser()
LOCK = threading.Lock()


class Collector(BaseHTTPRequestHandler):
    """POST /reports takes one report; GET /estimate gives the shares and their intervals."""

    def do_POST(self) -> None:
        size = self.headers.get("Content-Length", "")
        body = self.rfile.read(min(int(size), MOST_BYTES)) if size.isdecimal() else b""
        with LOCK:
            ANALYSER.update([body])
        self._reply(204, b"")

    def do_GET(self) -> None:
        with LOCK:
            found = summary() if ANALYSER.count else {"reports": 0, "refused": ANALYSER.refused}
        self._reply(200, json.dumps(found).encode())

    def _reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Addresses and times of requests are not kept."""


def summary() -> dict[str, Any]:
    """The estimate as it is published."""
    estimate = ANALYSER.estimate()
    intervals = estimate.intervals()
    rows = zip(estimate.categories, estimate.values, intervals.low, intervals.high, strict=True)
    return {
        "question": QUESTION,
        "reports": ANALYSER.count,
        "refused": ANALYSER.refused,
        "shares": {name: [float(value), float(low), float(high)] for name, value, low, high in rows},
    }


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8000), Collector)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
