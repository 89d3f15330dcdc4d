"""The statement: tasks and their data, machines and links, routes, plans that are given."""
