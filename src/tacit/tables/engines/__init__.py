"""What an engine is asked for and gives back (`contract`), and the engines."""
