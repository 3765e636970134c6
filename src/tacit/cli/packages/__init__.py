"""Commands that need no statement: models, synthetic tables, local protocols, accounting."""
