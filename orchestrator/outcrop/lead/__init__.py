"""The orchestrator's own agent: it splits the objective, dispatches, answers. No row enters its context."""
