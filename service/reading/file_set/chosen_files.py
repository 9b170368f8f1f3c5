"""Choose the files of each resource among those of a data set: by their names, or as a mapping declares."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.container import Container, open_container
from service.reading.file_set.declared_files import declared_files, patterns_of
from service.reading.file_set.file_names import DataFileName, data_files
from service.reading.file_set.misnamed_files import alike, suggest_file_name, suggest_other_files, suggest_patterns
from service.reading.formats.file_format import FORMATS
from service.reading.mapping.declaration import DataMapping


def alike_files(path: Path) -> tuple[str, ...]:
    """Return the patterns of several files that may all be those of stores; none if there are not several."""
    try:
        names = open_container(path).names
    except FileError:
        return ()
    several = alike(names, STORES.name, [COMPANIES.name])
    return tuple(patterns_of(several, names)) if several else ()


class ChosenFiles:
    """The names of the data files in a container.

    derives_companies  whether the companies are in the files of the stores
    """

    def __init__(self, container: Container, mapping: DataMapping) -> None:
        """Take a mapping, whose patterns do not matter for a file that is alone."""
        self._container = container
        is_alone = len(container.names) == 1
        self._single = container.single if is_alone or not mapping.files else None
        self._patterns = {} if self._single else mapping.files
        self.derives_companies = mapping.derives_companies or self._single is not None

    @property
    def needless(self) -> Sequence[str]:
        """The files of companies, if the companies are derived from the stores."""
        return sorted(self._names(COMPANIES) - self._names(STORES)) if self.derives_companies else []

    @property
    def held(self) -> set[str]:
        """The names of all files that hold records."""
        return self._names(STORES) | self._names(COMPANIES)

    def of(self, resource: Resource) -> Sequence[DataFileName]:
        """Return the files of a resource, at least one, in the order in which they are read. Raises FileError."""
        names = self._find(resource)
        if resource.name in self._patterns:
            self._check_others(names, resource)
        elif len(names) > 1:
            several = [each.name for each in names]
            declare = suggest_patterns(patterns_of(several, self._container.names), resource.name)
            raise FileError(f"found several files: {', '.join(several)}; keep one, or {declare}")
        elif not names:
            raise FileError(f"the file is missing: {self._suggest_file(resource)}")
        return names

    def _names(self, resource: Resource) -> set[str]:
        with suppress(FileError):
            return {each.name for each in self._find(resource)}
        return set()

    def _find(self, resource: Resource) -> Sequence[DataFileName]:
        patterns = self._patterns.get(resource.name)
        if patterns is not None:
            return declared_files(patterns, self._container.names, f"{resource.name}.files")
        if self._single is None:
            return data_files(self._container.names, resource)
        return data_files([self._single]) if resource is STORES else []

    def _check_others(self, names: Sequence[DataFileName], resource: Resource) -> None:
        """Raise FileError if one of the files that are declared for a resource is of another one, too."""
        others = set() if self.derives_companies else self._names(COMPANIES if resource is STORES else STORES)
        if both := next((each.name for each in names if each.name in others), None):
            raise FileError(f"{both!r} is a file of stores and of companies: {resource.name}.files must not match it")

    def _suggest_file(self, resource: Resource) -> str:
        """Return what to do if a resource has no file."""
        names = list(filter(self._container.is_file, self._container.names))
        if similar := suggest_file_name(names, resource.name):
            return similar
        formats = f"another format ({', '.join(FORMATS)}), with .gz or .zst if it is compressed"
        file = f"put {resource.name}.csv into the folder, or {formats}"
        if resource is COMPANIES:
            return f"{file}; or let a mapping take the companies from the stores"
        return file + suggest_other_files(names, resource.name, [COMPANIES.name])
