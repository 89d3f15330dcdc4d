"""The statement: numbers brought into their final form."""
