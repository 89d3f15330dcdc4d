"""Plans of a graph made better: moves of tasks, and plans from the end and forwards again."""
