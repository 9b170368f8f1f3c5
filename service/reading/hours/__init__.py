"""Opening hours from what files have: texts, columns of days, JSON; in the form in which they are served."""
