"""Laws over rows of bins, fitted to noisy tables: graphs and mixtures."""
