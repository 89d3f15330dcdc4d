"""Loads handed down in trees."""
