"""An open table: what is asked, paid for, drawn and stored."""
