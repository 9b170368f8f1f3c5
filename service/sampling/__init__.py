"""Made-up data sets of any size: believable stores in real cities, the same bytes for the same seed."""
