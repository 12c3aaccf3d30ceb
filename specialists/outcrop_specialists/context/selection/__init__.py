"""Which tools a model is offered: cards, lexical and dense ranking, their fusion, and one agent's growing list."""
