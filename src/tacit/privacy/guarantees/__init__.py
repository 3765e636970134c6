"""The five kinds of guarantee, one file each."""
