"""What mechanisms share: promises and inputs read, noise added, tails, estimates."""
