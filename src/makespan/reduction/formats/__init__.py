"""Plans of collectives in the formats of others."""
