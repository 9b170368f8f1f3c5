"""Arrays in spools: of any size, in little memory."""

from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.gathering import gather
from service.engine.string_array import StringArray, narrow
from service.files.spool import Spool, Spools

_Item = TypeVar("_Item", bound=np.generic)
_Parts = TypeVar("_Parts", bound=msgspec.Struct)
_AT_ONCE: Final = 1 << 14  # strings copied at once


def keep(array: NDArray[_Item], spools: Spools) -> NDArray[_Item]:
    """Return an array as it is if it is small, else a copy in a spool."""
    if array.nbytes <= spools.in_memory:
        return array
    spool = spools.new()
    spool.append(array.data)
    return spooled(spool, array.dtype)


def keep_arrays(parts: _Parts, spools: Spools) -> _Parts:
    """Return a struct of arrays, and of such structs, with its arrays kept."""
    return type(parts)(*(_keep_part(getattr(parts, name), spools) for name in parts.__struct_fields__))


def _keep_part(part: object, spools: Spools) -> object:
    if isinstance(part, np.ndarray):
        return keep(part, spools)
    return keep_arrays(part, spools) if isinstance(part, msgspec.Struct) else part


def spooled(spool: Spool, dtype: "np.dtype[_Item]") -> NDArray[_Item]:
    """Return the items in a spool as an array."""
    return np.frombuffer(spool.view(), dtype)


def keep_strings(
    data: memoryview, starts: NDArray[np.integer[Any]], lengths: NDArray[np.integer[Any]], spools: Spools
) -> StringArray:
    """Return strings of a buffer, one after the other, in a spool."""
    kept, offsets = spools.new(), np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    for begin in range(0, len(starts), _AT_ONCE):
        some = starts[begin : begin + _AT_ONCE].astype(np.int64), lengths[begin : begin + _AT_ONCE].astype(np.int64)
        kept.append(gather(data, *some) or _joined(data, *some))
    return StringArray(kept.view(), keep(narrow(offsets), spools))


def _joined(data: memoryview, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> bytes:
    return b"".join(map(data.__getitem__, map(slice, starts.tolist(), (starts + lengths).tolist())))
