"""Plans as pictures, pages and traces."""
