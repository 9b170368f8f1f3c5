"""Authentication by x-api-key."""

import pytest

from service.access.api_key import Principal
from service.model.errors import Unauthorized
from service.web.pipeline.auth import no_authentication
from tests.web.live import authentication, with_keys


def test_each_key_has_its_own_principal() -> None:
    authenticate = authentication(["one", "two"])
    assert (authenticate(with_keys("one")), authenticate(with_keys("two"))) == (Principal("key 1"), Principal("key 2"))


def test_without_keys_every_request_is_rejected() -> None:
    with pytest.raises(Unauthorized):
        authentication([])(with_keys("anything"))


def test_without_authentication_every_request_is_accepted() -> None:
    assert no_authentication(with_keys()) == Principal("anonymous")
