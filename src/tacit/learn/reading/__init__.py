"""A table as whole numbers, by public rules alone: cells, columns, schema, rows that are read again and again."""
