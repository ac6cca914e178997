"""Search for layouts: a population of them evolves by playing simulated games."""
