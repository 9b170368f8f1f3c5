"""What columns say by their names and values: fields, dates, flags, signs of closed stores."""
