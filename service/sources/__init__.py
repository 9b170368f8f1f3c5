"""Sources of data: a folder, a baked file or a URL, each fetched as a baked file."""
