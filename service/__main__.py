"""`python -m service` is `store-directory`."""

from service.commands import main

main()
