"""THE API SERVER: watch, write, lease, errors. Imported by the composition root alone."""
