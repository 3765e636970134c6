"""What can be asked about: one small value for each kind of release."""
