"""Reports: tables for the terminal, figures in one style, one self-contained HTML page."""
