"""Do intervals cover the truth? Simulated streams, with their hidden labels."""
