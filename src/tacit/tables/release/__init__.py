"""From private integers to a released answer: keys, noise, estimates, intervals, disclosure."""
