"""From games to the weights of the human model: replay, legal moves, network, training, figures."""
