"""Shared basics: errors, dates, files, text, tables, configuration."""
