"""What another commit of Tacit answers: run by `accuracy_statements.py` with that commit's source on the path."""

from accuracy_statements import ours
from accuracy_worker import serve

if __name__ == "__main__":
    serve(ours)
