"""THE WHEEL: snapshot → engine → plan → perform → observe."""
