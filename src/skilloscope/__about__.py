"""The version, alone in a file so that building and starting read nothing else."""

__version__ = "0.3.0"
