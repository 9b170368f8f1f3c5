"""Locations of rows: near a point, in a box, on a map, in the order of their distance."""
