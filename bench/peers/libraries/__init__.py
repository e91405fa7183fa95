"""One file for each peer: its own public interface, in the form the bench plays (``bench.peers.players.Player``)."""
