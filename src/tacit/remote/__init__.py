"""Tables that a service keeps: asked from here, drawn there."""
