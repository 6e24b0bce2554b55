"""Ratings from results by rating periods. [GLI99]"""
