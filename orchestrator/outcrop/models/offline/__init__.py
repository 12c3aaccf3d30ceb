"""The offline model: a deterministic planner behind the Messages API face, for work without a language model."""
