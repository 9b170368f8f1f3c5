"""An object store, opened with the settings that its users have in the environment. The extra `object-stores`."""

import os
from collections.abc import Mapping
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from service import __version__
from service.object_stores.object_url import ObjectUrl
from service.object_stores.store_errors import PREFIXES, store_errors

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    Store = S3Store | GCSStore | AzureStore

# The names that the client gives the variables for other servers than those of the provider.
_ENDPOINTS: Final = (
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_ENDPOINT",
    "GOOGLE_BASE_URL",
)
# An hour is enough for two gigabytes at 5 Mbit/s, as over HTTP.
_SETTINGS: Final = {
    "timeout": "3600 seconds",
    "connect_timeout": "10 seconds",
    "read_timeout": "30 seconds",
    "user_agent": f"store-directory/{__version__}",
}
_RETRY_TIMEOUT: Final = timedelta(seconds=60)


def open_store(url: ObjectUrl, settings: Mapping[str, str] = {}, *, retries: int = 0) -> "Store":
    """Return the store of an object, without a request. Raises ValueError, without secrets, for what is missing.

    settings  of the client, by the names of obstore, such as timeouts
    retries   further attempts of the client
    """
    if find_spec("obstore") is None:
        raise ValueError(f"{url.scheme}:// needs the package obstore: pip install 'store-directory[object-stores]'")
    from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 - an extra

    _check_endpoints()
    options: Any = {
        "config": {**_SETTINGS, **settings},
        "retry_config": {"max_retries": retries, "retry_timeout": _RETRY_TIMEOUT},
    }
    if url.scheme == "s3" and os.environ.get("AWS_PROFILE"):
        options["credential_provider"] = _profile()
    stores: dict[str, Any] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    with store_errors(url.scheme, ValueError, otherwise=f"the variables {PREFIXES[url.scheme]}_* are not valid"):
        store: Store = stores[url.scheme](url.bucket, **options)
    return store


def _check_endpoints() -> None:
    """Raise ValueError for an endpoint that is no URL, which the client does not survive."""
    for name in _ENDPOINTS:
        endpoint = os.environ.get(name, "")
        try:
            parts = urlsplit(endpoint)
            is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_valid = False
        if endpoint and not (is_valid and endpoint.isascii() and endpoint.isprintable() and " " not in endpoint):
            raise ValueError(f"{name} is not an http or https URL")


def _profile() -> object:
    """Return the credentials of a profile of AWS. Raises ValueError."""
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider  # noqa: PLC0415 - few need it
    except ImportError:
        raise ValueError("AWS_PROFILE needs the package boto3: pip install boto3") from None
    try:
        return Boto3CredentialProvider()
    except Exception as error:  # noqa: BLE001 - of many kinds, and the message may have what is in the file
        raise ValueError(f"the profile in AWS_PROFILE has no credentials ({type(error).__name__})") from None
