"""The routes: records, probes, metrics, documents."""
