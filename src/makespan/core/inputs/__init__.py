"""What others bring: files, their contents, keys and types, mistakes in them."""
