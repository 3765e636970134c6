"""What words mean: thirty of them, each text the same in a terminal and on the glossary page."""
