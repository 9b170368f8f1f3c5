"""The formats of bodies: each makes the body of a plan."""
