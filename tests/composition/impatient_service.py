"""The service, where every query that looks at rows is a long one."""

from service.__main__ import main
from service.engine import long_work

if __name__ == "__main__":
    long_work.MOST_ROWS = 0
    main()
