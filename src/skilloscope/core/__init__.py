"""What everything stands on: errors, dates, files, configuration."""
