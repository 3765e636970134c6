"""Learning from open tables: one request, paid like any question, whose stored answer is the model."""
