"""What a question would cost and how it would be answered; free, and blind to the data."""
