"""Trees and sequences into orders of sends, and the trees of message-passing libraries."""
