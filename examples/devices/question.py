"""What devices and collector agree on, and everybody may know: the question, the answers, ε."""

from tacit.local import KaryResponse

ANSWERS = ["never", "once", "more often"]
QUESTION = "How often did you drive after drinking, last year?"
RANDOMIZER = KaryResponse(epsilon=1, categories=ANSWERS)
