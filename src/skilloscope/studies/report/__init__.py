"""What `skilloscope report` asks: one player or a whole event, from Elo to the single decision, as a page to read."""
