"""THE WORDS: frozen values that every other layer speaks in. Nothing here decides, reads a clock or does I/O."""
