"""A planner for the checkpoints of large model training."""

__version__ = "0.4.0"
