"""The query parameters: which exist. What they accept, and the errors for other values: `tests/fastapi_model`."""

from service.model.parameters import file_parameters_of, map_parameters_of, parameters_of
from service.model.query import Query
from service.model.records import COMPANIES, STORES
from tests.declared_attributes import STORES_WITH_HOURS

ALL_PARAMETERS = [*parameters_of(STORES_WITH_HOURS), *parameters_of(COMPANIES), *map_parameters_of(STORES)]


def test_parameters_are_filters_or_members_of_a_query() -> None:
    filters = {field.name for resource in (STORES, COMPANIES) for field in resource.filters}
    members = set(Query.__struct_fields__) - {"filters", "place"}  # which `q` of places is
    of_files = {parameter.name for parameter in file_parameters_of(STORES, "csv")}
    assert {parameter.name for parameter in ALL_PARAMETERS} - filters | of_files - filters == members
    assert not filters & {*Query.__struct_fields__}
