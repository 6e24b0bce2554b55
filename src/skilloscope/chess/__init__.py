"""Chess, one producer of decisions: moves → pgn → engine → analysis → human. Nothing imports what comes after it."""
