"""What texts mean: flags, dates, open and closed."""
