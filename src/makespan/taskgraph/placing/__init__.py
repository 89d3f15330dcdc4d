"""Plans that grow: who is busy until when, gaps, copies, orders of tasks, steps."""
