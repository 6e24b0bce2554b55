"""Perceived Elo from gains, with its intervals. [FER12]"""
