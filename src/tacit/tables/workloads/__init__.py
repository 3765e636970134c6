"""Many counts of one table at one price, made to add up."""
