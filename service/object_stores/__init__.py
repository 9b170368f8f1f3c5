"""Object stores: S3 and its likes, Google Cloud Storage, Azure Blob Storage; through obstore, an extra."""
