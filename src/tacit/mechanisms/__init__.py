"""One file per mechanism: noise, guarantee, accuracy. `tacit.examples.registry` lists them all."""
