"""The web application: pages for one machine or one club, and the same as JSON."""
