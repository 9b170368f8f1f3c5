"""Store Directory: a read-only HTTP/JSON service over stores and the companies that own them."""

__version__ = "0.3.0.dev0"
# Of the interface, `info.version` of its OpenAPI document.
INTERFACE_VERSION = "0.1.0"
