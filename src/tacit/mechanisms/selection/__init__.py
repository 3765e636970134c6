"""One candidate or several, chosen by their scores; which groups may be named; the best of many runs."""
