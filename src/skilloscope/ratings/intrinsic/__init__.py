"""Fits of curves to decisions. [RH11]"""
