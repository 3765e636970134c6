"""What a policy needs to know, bought: values, bounds, limits."""
