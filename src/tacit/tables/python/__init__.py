"""The same query tree built in Python: columns, aggregates, selections."""
