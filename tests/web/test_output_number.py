"""An identity has the same body in every release, unless the release increments `OUTPUT`."""

from hashlib import sha256

from service.web.pipeline.identity import OUTPUT
from tests.web.live import HEADERS, Client

TARGETS = (
    "/stores",
    "/stores?city=toronto&limit=1&page_num=2&sort_by=name&sort_order=desc",
    "/stores?city=nowhere",
    "/companies",
    "/companies/acme",
    "/companies/nord",
)
# If response bytes change, clients need new tags: increment OUTPUT, and record it with the new digest here.
KNOWN = (2, "e9d98231dacda13d")


async def test_a_change_of_response_bytes_comes_with_a_new_output_number(client: Client) -> None:
    digest = sha256()
    for target in TARGETS:
        response = await client.get(target, headers=HEADERS)
        assert response.status == 200
        digest.update(await response.read())
    assert (OUTPUT, digest.hexdigest()[:16]) == KNOWN
