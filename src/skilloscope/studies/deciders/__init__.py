"""What `skilloscope decisions rate` and `decisions live` ask: deciders of any domain, at once or as they decide."""
