"""What the rows may be: columns, their codes, rules and conditions. Public."""
