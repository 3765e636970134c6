"""What is bought of a table: counting, the purse, one-way counts, and the bins that follow."""
