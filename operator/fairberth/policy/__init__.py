"""THE DECISIONS: pure functions and values, one file per question. No I/O, clock, randomness or logging."""
