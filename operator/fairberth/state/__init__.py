"""THE MEMORY: facts in, immutable snapshots out. One mutator, sans-IO."""
