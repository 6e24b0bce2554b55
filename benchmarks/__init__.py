"""Benchmarks that can fail: ratios within one run, in CPU time after warm-up, compile time apart."""
