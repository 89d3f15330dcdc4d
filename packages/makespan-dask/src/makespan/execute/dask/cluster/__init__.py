"""The cluster from outside: clients, workers that come and go, bytes to them, and what it costs."""
