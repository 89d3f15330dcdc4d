"""Tables of experiments → how the methods did: tables, ranks, profiles, a page."""
