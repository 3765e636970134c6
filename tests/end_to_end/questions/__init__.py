"""A hundred questions as analysts write them, on Adult and on the table of the demo."""
