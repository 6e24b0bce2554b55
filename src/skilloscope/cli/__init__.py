"""The command line: parse, call, render. Heavy imports happen inside the commands, so that --help starts fast."""
