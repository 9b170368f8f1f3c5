"""The vocabulary: records, kinds, parameters, queries, errors, envelopes, operations."""
