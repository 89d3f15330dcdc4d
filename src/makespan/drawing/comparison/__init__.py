"""Methods side by side, as bars."""
