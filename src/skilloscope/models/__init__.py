"""Models of how decisions are made, one equation of the papers per function, with fast twins."""
