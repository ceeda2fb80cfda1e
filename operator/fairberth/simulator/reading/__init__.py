"""From a scenario file to a `Scenario`, or to every fault in it with its place."""
