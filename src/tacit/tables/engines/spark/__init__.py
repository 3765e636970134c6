"""The engine on Spark 4: the bounded aggregate runs in its partitions, and only integers come back."""
