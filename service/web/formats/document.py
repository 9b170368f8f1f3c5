"""Documents of the service: their bodies never change."""

from service.web.pipeline.plan import Body, BodyFormat


class Document(BodyFormat, frozen=True, eq=False):
    """A document of the service."""

    content: bytes

    async def body(self) -> Body:
        """Return the content."""
        return Body((self.content,))
