"""One person's device: reads the true answer, posts a randomized report, says nothing else to anybody.

    python device.py http://127.0.0.1:8000 never

Whatever it is given, it posts one report of the same length; only an address that cannot be reached is an error.
"""

import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

from question import RANDOMIZER


def post(collector: str, answer: object) -> None:
    """Randomize the answer here, and send the report."""
    report = RANDOMIZER.report(answer)
    connection = HTTPConnection(urlsplit(collector).netloc, timeout=30)
    connection.request("POST", "/reports", body=report, headers={"Content-Type": "application/octet-stream"})
    connection.getresponse().read()
    connection.close()


if __name__ == "__main__":
    post(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
