"""Chess, one producer of decisions: games → positions → analysis → decisions."""
