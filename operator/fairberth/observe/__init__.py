"""What people and machines see of a decision: metrics, logs, explanations."""
