"""Subjects of our own for the auditor: broken ones to convict or call blind, sound ones to leave alone."""
