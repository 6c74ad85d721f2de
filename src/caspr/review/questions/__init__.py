"""Questions to the adjudicator: finding them, their choices and prices, their order, what is at stake."""
