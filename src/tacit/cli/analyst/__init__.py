"""Commands of who asks: plans, questions, reports."""
