"""Pictures of plain values. Needs matplotlib, which the `plots` extra brings; loaded when a picture is drawn."""
