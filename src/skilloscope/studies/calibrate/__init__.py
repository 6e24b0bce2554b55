"""An Elo axis for another pool, from games with ratings in their headers."""
