"""The questions people ask, each a thin composition of the layers below."""
