"""How much machines do in a second at most: shares of linear stars, bounds, scales."""
