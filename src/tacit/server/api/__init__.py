"""The API, version 1: what programs ask."""
