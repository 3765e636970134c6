"""The exact core of generalised linear models: whole numbers up to the noise. Proof: docs/proofs/linear_models.md."""
