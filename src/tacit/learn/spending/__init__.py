"""What a fit may spend and what it buys: shares of a promise that sum to one at most, all written down."""
