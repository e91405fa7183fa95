"""How long logs of any length take: `make bench ARGS=logs`."""
