"""The interface as types: records, kinds, parameters, queries, errors, envelopes, operations."""
