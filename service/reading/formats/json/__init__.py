"""JSON, JSON Lines and GeoJSON: typed records, and records by the paths of their members."""
