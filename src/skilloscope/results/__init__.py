"""Results of games between players: tables of any source, as columns, cut into rating periods."""
