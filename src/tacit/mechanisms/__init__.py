"""One file per mechanism: noise, guarantee, accuracy. `registry.py` lists them all."""
