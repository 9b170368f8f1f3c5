"""What several rooms do with files: locks and signatures."""
