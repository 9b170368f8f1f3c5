"""The service, where every query that looks at rows is a long one, and a key has one at a time."""

from service.__main__ import main
from service.engine.columns import row_budget
from service.web.pipeline import plan

if __name__ == "__main__":
    row_budget.MOST_ROWS = 0
    plan.MAX_LONG_QUERIES_OF_A_KEY = 1
    main()
