"""Where data comes from: a folder, a baked file, an origin on the web. Each is taken into a baked file of our own."""
