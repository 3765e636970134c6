"""Commands that advise and explain: which mechanism, what a word means, what is left to do."""
