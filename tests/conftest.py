"""How property tests are run."""

from hypothesis import Phase, settings

# For the many runs of `make mutation`: the same few examples each time, and none made smaller once one has failed.
settings.register_profile(
    "mutation", max_examples=20, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)
