"""Programs that ranks run import PyTorch, so they are not looked through for tests."""

collect_ignore = ["page.py", "summing.py", "training.py"]
