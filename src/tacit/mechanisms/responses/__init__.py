"""Answers that each person randomizes."""
