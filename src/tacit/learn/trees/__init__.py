"""Trees grown level by level: choices among public splits by exact scores, noisy leaves."""
