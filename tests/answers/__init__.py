"""The questions, cases and objectives of ../shared/data as tool calls: what a good analyst would call for each, and how
the answer is taken from what comes back. Which file has which columns is known here and nowhere in the product."""
