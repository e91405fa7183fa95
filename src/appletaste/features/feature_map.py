"""The map from records to vectors of fixed width, with a name for each coefficient.

What a saved map holds: settings and levels as JSON, statistics as an array (docs/save-format.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._files import open_archive, write_archive
from ..errors import DataError, InputError, Message, MissingExtraError, Remedy, SaveFileError, near
from ..tables.files import as_record, is_frame
from ..tables.records import Records, check_column, listed, read_records
from .columns import Category, Column, ColumnEntries, Hashed, Hasher, LevelColumn
from .dates import Date, Days
from .interactions import HashedProduct, Product, product_of
from .levels import SLOTS, Open
from .numbers import OPEN, Number, Score
from .ramps import Curve
from .seen import Seen

if TYPE_CHECKING:
    from .encoder import Encoder


FORMAT = 5


def header_of(features: FeatureMap) -> dict[str, Any]:
    """Return everything of a map but its statistics."""
    return {
        "kind": "features",
        "format": FORMAT,
        "encoder": asdict(features.encoder),
        "missing": list(features.missing),
        "columns": [column.header() for column in features.columns],
        "curves": [curve.header() for curve in features.curves],
        "dropped": list(features.dropped),
        "seen": {name: seen.header() for name, seen in features.seen.items()},
        "made": features.made,
        "missing_fields": {name: n for name in features.fields if (n := features.missing_fields[name])},
        "unreadable": features.unreadable,
    }


def rebuild(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> FeatureMap:
    """Return the map that was described."""
    from .encoder import Encoder

    if "encoder" not in header:
        raise ValueError("the file holds a policy and no feature map")
    if header["format"] != FORMAT:
        raise SaveFileError(f"a feature map of save format {header['format']}; this version reads format {FORMAT}")
    encoder = Encoder(**header["encoder"])
    hasher = Hasher(encoder.hashing or 0)
    settings = (encoder.standardise, encoder.clip, encoder.online)
    columns: list[Column] = []
    for saved in header["columns"]:
        if saved["kind"] == Number.kind:
            columns.append(Number(saved["name"], *settings, saved["indicator"]))
        elif saved["kind"] == Score.kind:
            columns.append(Score(saved["name"], *settings, saved["indicator"], saved["edge"]))
        elif saved["kind"] == Date.kind:
            date = Date(saved["name"], saved["cycles"], saved["since"], saved["indicator"], *settings)
            date.unreadable = header["unreadable"][date.name]
            columns.append(date)
        elif saved["kind"] == Days.kind:
            columns.append(Days(saved["name"], saved["later"], saved["earlier"], *settings, saved["indicator"]))
        elif saved["kind"] == Category.kind:
            columns.append(Category(saved["name"], saved["levels"], saved["room"], saved["missing"]))
        elif saved["kind"] == Open.kind:
            columns.append(Open(saved["name"], saved["levels"]))
        elif saved["kind"] == Hashed.kind:
            columns.append(Hashed(saved["name"], hasher))
        else:
            raise ValueError(f"there is no kind of column {saved['kind']!r}")
    running = [number for column in columns for number in column.running()]
    for number, statistics in zip(running, arrays["statistics"].tolist(), strict=True):
        number.take(*statistics)
    by_name = {column.name: column for column in columns if isinstance(column, Number)}
    curves = [Curve(by_name[saved.pop("name")], **saved) for saved in map(dict, header["curves"])]
    seen = {name: Seen.restore(saved) for name, saved in header["seen"].items()}
    features = FeatureMap(encoder, columns, tuple(header["missing"]), hasher, tuple(header["dropped"]), curves, seen)
    features.made = header["made"]
    features.missing_fields.update(header["missing_fields"])
    return features


INTERCEPT = "intercept"


class Cells(NamedTuple):
    """A record as a map reads it: a cell for each column, and the fields that it lacks."""

    cells: list[Any]
    absent: Collection[str]


class FeatureMap:
    """Turns a record into a vector; made by ``Encoder.fit``, on a warm-up and never on what comes later.

    A vector depends on the warm-up and, where the encoder is ``online`` or has ``spare`` columns, on the records
    before it. With ``update=False`` the map is only asked, and does not change. One map is for one thread.
    A record with a field that the map does not know is refused, unless the field was dropped when the map was made. A
    field that a record lacks is missing, and counted in ``missing_fields``.

    Examples
    --------
    >>> import appletaste as at
    >>> people = [{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}]
    >>> features = at.Encoder().fit(people)
    >>> features.names()
    ['intercept', 'age', 'job=retired', 'job=student', 'job other']
    >>> x = features.transform({"age": 50, "job": "pilot"})
    >>> x
    array([1., 1., 0., 0., 1.])
    >>> features.explain(x, theta=[-1.0, 0.5, 0.2, 0.1, 0.3])
    [('intercept', -1.0), ('age', 0.5), ('job other', 0.3)]
    """

    def __init__(
        self,
        encoder: Encoder,
        columns: list[Column],
        missing: tuple[str, ...],
        hasher: Hasher,
        dropped: tuple[str, ...] = (),
        curves: Iterable[Curve] = (),
        seen: Mapping[str, Seen] | None = None,
    ) -> None:
        self.encoder, self.columns, self.missing, self._hasher = encoder, columns, missing, hasher
        #: Fields that a record may have and that are no features.
        self.dropped = dropped
        #: What the warm-up had in each column, for pictures (``views``).
        self.seen = dict(seen or {})
        #: How often a record lacked a column altogether, by column.
        self.missing_fields: Counter[str] = Counter()
        #: How many vectors it has made, those not counted that were only asked for (``update=False``).
        self.made = 0
        self._codes = frozenset(missing)
        self._by_name = {column.name: place for place, column in enumerate(columns)}
        #: The fields of a record that vectors are made from.
        self.fields = tuple(dict.fromkeys(name for column in columns for name in column.sources))
        self._needed = frozenset(self.fields)
        self._known = frozenset((*self.fields, *dropped))
        self._pairs = [(self._by_name[one], self._by_name[two]) for one, two in encoder.interactions]
        self._products = [product_of(columns[i], columns[k], hasher) for i, k in self._pairs]
        #: The curves of numbers, with where the ramps of each begin in the vector.
        self.curves = tuple(curves)
        self._bent = [(self._by_name[curve.column.name], curve) for curve in self.curves]
        position = int(encoder.intercept)
        for block in (*columns, *self._products, *self.curves):
            block.start = position
            position += len(block.names)
        for block in (*columns, *self._products):
            if block.hashed:
                block.start = position  # all hashed names share one block, the last
        #: The width of the vectors.
        self.n_features = position + hasher.width

    def __repr__(self) -> str:
        kinds = [column.kind for column in self.columns]
        parts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        return f"<FeatureMap: {self.n_features} features from {len(self.columns)} columns ({parts})>"

    @property
    def hashed(self) -> int:
        """How many places, the last ones, hashed levels share."""
        return self._hasher.width

    @property
    def unreadable(self) -> dict[str, int]:
        """How many texts were no dates and so were taken as missing, by column of dates."""
        return {column.name: column.unreadable for column in self.columns if isinstance(column, Date)}

    @property
    def products(self) -> list[Product | HashedProduct]:
        """The interactions, with where each begins in the vector."""
        return self._products

    @property
    def groups(self) -> tuple[int, ...]:
        """The group of each place: 0, or k for the ramps of the k-th curve, whose coefficients share a scale.

        Instead of k it is -k where the column jumps, see ``Curve.jumps``. The score of another model is in the group
        ``OPEN``, its straight line as well; a place that holds the slots of a column with many levels is in the group
        ``SLOTS``, 1,000,000.

        Examples
        --------
        >>> import appletaste as at
        >>> at.Encoder(curves=True).fit({"age": [20, 30, 70], "job": ["chef", "pilot", "chef"]}).groups
        (0, 0, 0, 0, 0, 1, 1)
        """
        found = [0] * self.n_features
        for number, curve in enumerate(self.curves, 1):
            own = OPEN if isinstance(curve.column, Score) else -number if curve.jumps else number
            found[curve.start : curve.start + len(curve.names)] = [own] * len(curve.names)
        if self.score is not None:
            found[self.score.start] = OPEN
        for column in self.columns:
            if isinstance(column, Open):
                found[column.start] = SLOTS
        return tuple(found)

    @property
    def grouped(self) -> bool:
        """Whether the policy must be given ``groups``: some places are ramps of curves, or hold slots of levels."""
        return any(self.groups)

    @property
    def score(self) -> Score | None:
        """The column that holds another model's score; None: there is none."""
        return next((column for column in self.columns if isinstance(column, Score)), None)

    def names(self) -> list[str]:
        """Return one name for each coefficient, in order."""
        own = [name for block in (*self.columns, *self._products, *self.curves) for name in block.names]
        hashed = [f"hashed {place}" for place in range(self._hasher.width)]
        return [*([INTERCEPT] if self.encoder.intercept else []), *own, *hashed]

    def transform(self, record: Any, update: bool = True) -> NDArray[np.float64]:
        """Return the vector of one record: a dict, a row of a data frame, or a frame of one row.

        A column that the record does not have is missing, and counted; a field that is no column is refused.
        """
        return self.vector(self.read_cells(record), update)

    def vector(self, read: Cells, update: bool = True) -> NDArray[np.float64]:
        """Return the vector of a record that was read (``read_cells``)."""
        x = np.zeros(self.n_features)
        if self.encoder.intercept:
            x[0] = 1.0
        cells, absent = read
        encoded = [column.encode(cell, update) for column, cell in zip(self.columns, cells, strict=True)]
        for column, entries in zip(self.columns, encoded, strict=True):
            for place, value in entries:
                x[column.start + place] += value
        for (i, k), product in zip(self._pairs, self._products, strict=True):
            for place, value in product.encode((cells[i], cells[k]), encoded[i], encoded[k]):
                x[product.start + place] += value
        for i, curve in self._bent:
            for place, value in curve.encode(cells[i]):
                x[curve.start + place] += value
        if update:
            self.made += 1
            self.missing_fields.update(absent)
        return x

    def read_cells(self, record: Any) -> Cells:
        """Return the cells of a record as this map reads them, or say which one is of the wrong kind."""
        record = as_record(record)
        absent = () if self._needed <= record.keys() else tuple(name for name in self.fields if name not in record)
        return Cells(self._cells(record), absent)

    def mark(self) -> tuple[Any, ...]:
        """Return how far the map has come, for ``rewind``."""
        return self.made, Counter(self.missing_fields), [column.mark() for column in self.columns]

    def rewind(self, mark: tuple[Any, ...]) -> None:
        """Undo all that making vectors has changed since a ``mark``.

        Examples
        --------
        >>> import appletaste as at
        >>> features = at.Encoder(spare=1).fit({"job": ["chef", "pilot"]})
        >>> before = features.mark()
        >>> _ = features.transform({"job": "clerk"})
        >>> features.names()[3], features.rewind(before), features.names()[3]
        ('job=clerk', None, 'job (free 1)')
        """
        self.made, missing, columns = mark
        self.missing_fields = Counter(missing)
        for column, own in zip(self.columns, columns, strict=True):
            column.rewind(own)

    def transform_many(self, source: Any, sparse: bool = False, update: bool = True) -> Any:
        """Return the vectors of a table, [rows, features], as if one by one; ``sparse`` gives a SciPy CSR array.

        A file, data frame, dict of columns or iterable of dicts is read with the kinds of columns of this map.
        """
        csr_array = _require_csr() if sparse else None
        if isinstance(source, Iterable) and not isinstance(source, str | PathLike | Mapping | Records | np.ndarray):
            source = source if is_frame(source) else list(source)
        entries = self._entries(self.read(source), update)
        rows = len(entries[0][0])
        if update:
            self.made += rows
            for record in source if isinstance(source, list) else ():
                self.missing_fields.update(self._needed - record.keys())
        if csr_array:
            return _csr(csr_array, entries, rows, self.n_features)
        X = np.zeros((rows, self.n_features))
        every = np.arange(rows)
        for places, values in entries:
            X[every, places] += values
        return X

    def read(self, source: Any) -> Records:
        """Return a table as records, with the kinds of columns and the missing codes of this map.

        A column that the map does not know is refused, unless it was dropped when the map was made.
        """
        numbers = [column.name for column in self.columns if column.numeric]
        others = [name for name in self.fields if name not in numbers]
        if isinstance(source, Records):
            records, there = source, list(source.columns)
        else:
            records = read_records(
                source,
                missing=self.missing,
                columns=self.fields,
                numbers=numbers,
                categories=others,
                warm_up=10**9,  # the names of all rows: a field that only a late one has is looked at too
            )
            there = list(records.dropped)
        for name in self.fields:
            check_column(name, records.columns, records.source)
        self.check_known(records.source, there)
        return records

    def check_known(self, what: str, fields: Iterable[str]) -> None:
        """Refuse fields that are no columns of this map and were not dropped."""
        for name in fields:
            if name not in self._known:
                told = (
                    f"{what} has {name!r}, which this map does not know{near(name, self.fields)}. Its columns: "
                    f"{listed(self.fields)}. A field that is no feature is named when the map is made: "
                )
                raise InputError(Message(told, Remedy("drop", [name])))

    def header(self) -> dict[str, Any]:
        """Return the settings and the levels as JSON can hold them; with ``arrays`` it is all there is to a map."""
        return header_of(self)

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the statistics of the numbers, for saving."""
        running = [number.statistics for column in self.columns for number in column.running()]
        return {"statistics": np.array(running).reshape(-1, 6)}

    @staticmethod
    def restore(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FeatureMap:
        """Return the map that ``header`` and ``arrays`` describe; it continues bit for bit."""
        return rebuild(header, arrays)

    @property
    def changes(self) -> bool:
        """Whether making vectors changes the map: statistics that run on, or room for new levels."""
        return self.encoder.online or self.encoder.spare > 0 or any(isinstance(c, Open) for c in self.columns)

    @property
    def decides_by(self) -> tuple[str, ...]:
        """The feature columns. The time column is not one of them, although ages are counted from it."""
        return tuple(column.name for column in self.columns if column.names or column.hashed)

    @property
    def levels(self) -> dict[str, LevelColumn]:
        """The columns whose levels have names, by the name of the column."""
        return {column.name: column for column in self.columns if isinstance(column, LevelColumn)}

    def continues(self, earlier: FeatureMap) -> bool:
        """Return whether this map may be what another one has become: the same columns, with levels added at most.

        Examples
        --------
        >>> import appletaste as at
        >>> one, other = (at.Encoder(spare=1).fit({"job": jobs}) for jobs in (["chef", "pilot"], ["chef", "clerk"]))
        >>> one.continues(one), one.continues(other)
        (True, False)
        """
        mine, theirs = self.header(), earlier.header()
        if any(mine[part] != theirs[part] for part in ("encoder", "curves")):
            return False
        if len(mine["columns"]) != len(theirs["columns"]):
            return False
        for now, then in zip(mine["columns"], theirs["columns"], strict=True):
            known = len(then.get("levels", ()))
            if {**now, "levels": now.get("levels", [])[:known]} != {**then, "levels": then.get("levels", [])}:
                return False
        return True

    def save(self, path: str | PathLike[str]) -> None:
        """Write the map to a file of its own; ``Policy.save(path, features=...)`` keeps it with its policy."""
        write_archive(path, self.header(), self.arrays())

    @staticmethod
    def load(path: str | PathLike[str]) -> FeatureMap:
        """Read a map from its own file, or from the file of the policy it was saved with; it continues bit for bit."""
        with open_archive(path, "feature map") as (header, arrays):
            own = {name.removeprefix("features."): array for name, array in arrays.items()}
            return rebuild(header.get("features", header), own)

    def explain(self, item: Mapping[str, Any] | ArrayLike, theta: ArrayLike) -> list[tuple[str, float]]:
        """Return what each feature of a vector or record adds to the score x'theta, the largest first.

        Features that are zero are left out; the ramps of a curve count with their column. A record, rather than a
        vector, names what was hashed.
        """
        if isinstance(item, Mapping):
            coefficients = vector("theta", theta, self.n_features)
            parts = [(name, value * float(coefficients[place])) for name, place, value in self.named_entries(item)]
            return largest_first(parts)
        names = self.names()
        for curve in self.curves:
            names[curve.start : curve.start + len(curve.names)] = [curve.column.name] * len(curve.names)
        return contributions(names, item, theta)

    def cells(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the cells of a record by column, as this map reads them: NaN or None where missing."""
        return {column.name: cell for column, cell in zip(self.columns, self._cells(record), strict=True)}

    def _cells(self, record: Mapping[str, Any]) -> list[Any]:
        """Return the cells of a record, or say which one is of the wrong kind; nothing is counted yet."""
        if self._needed.isdisjoint(record):
            there = ", ".join(map(str, list(record)[:8])) or "nothing"
            raise InputError(
                f"the record has no column of this map: it has {there}; the map reads {', '.join(self.fields)}"
            )
        if not record.keys() <= self._known:
            self.check_known("the record", record)
        cells = []
        for column in self.columns:
            try:
                cells.append(column.cell(record, self._codes))
            except ValueError as error:
                value = record.get(column.name, error.args[0])  # days between dates have a name of their own
                raise DataError(
                    f"column {column.name!r} takes {column.wants}, got {value!r}; give None where the value is missing"
                ) from None
        return cells

    def _entries(self, records: Records, update: bool) -> ColumnEntries:
        """Return every entry of a table, at its place in the vector."""
        cells = [column.cells(records) for column in self.columns]  # all are read before any is counted
        encoded = [column.encode_column(cell, update) for column, cell in zip(self.columns, cells, strict=True)]
        entries: ColumnEntries = []
        if self.encoder.intercept:
            entries.append((np.zeros(len(records), np.intp), np.ones(len(records))))
        for column, own in zip(self.columns, encoded, strict=True):
            entries += [(column.start + places, values) for places, values in own]
        for (i, k), product in zip(self._pairs, self._products, strict=True):
            own = product.encode_column((cells[i], cells[k]), encoded[i], encoded[k])
            entries += [(product.start + places, values) for places, values in own]
        for i, curve in self._bent:
            entries += [(curve.start + places, values) for places, values in curve.encode_column(cells[i])]
        return entries

    def named_entries(self, record: Mapping[str, Any]) -> list[tuple[str, int, float]]:
        """Return the entries of a record with their names, hashed ones by what was hashed."""
        names, cells = self.names(), self._cells(record)
        encoded = [column.encode(cell, update=False) for column, cell in zip(self.columns, cells, strict=True)]
        parts = [(INTERCEPT, 0, 1.0)] if self.encoder.intercept else []
        for column, cell, entries in zip(self.columns, cells, encoded, strict=True):
            for place, value in entries:
                name = column.naming(0)(cell) if column.hashed else names[column.start + place]
                parts.append((name, column.start + place, value))
        for (i, k), product in zip(self._pairs, self._products, strict=True):
            pair = (cells[i], cells[k])
            entries = product.encode(pair, encoded[i], encoded[k])
            places = [product.start + place for place, _ in entries]
            called = product.tokens(pair, encoded[i], encoded[k])
            parts += zip(called, places, (value for _, value in entries), strict=True)
        for i, curve in self._bent:
            parts += [(curve.column.name, curve.start + place, value) for place, value in curve.encode(cells[i])]
        return parts


def _require_csr() -> Any:
    """Return SciPy's CSR array, or say how to install it."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise MissingExtraError("a sparse array", "sparse") from None
    return csr_array


def _csr(csr_array: Any, entries: ColumnEntries, rows: int, width: int) -> Any:
    """Return entries as a CSR array."""
    places = np.stack([places for places, _ in entries], axis=1)
    values = np.stack([values for _, values in entries], axis=1)
    starts = np.arange(0, values.size + 1, len(entries))
    X = csr_array((values.ravel(), places.ravel(), starts), shape=(rows, width))
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def contributions(names: Sequence[str], x: ArrayLike, theta: ArrayLike) -> list[tuple[str, float]]:
    """Return the parts x_j theta_j of the score x'theta by name, the largest first, zeros left out.

    Examples
    --------
    >>> contributions(["intercept", "age", "income"], [1.0, 0.5, 0.0], theta=[-0.1, 2.0, 3.0])
    [('age', 1.0), ('intercept', -0.1)]
    """
    parts = vector("an item", x, len(names)) * vector("theta", theta, len(names))
    return largest_first(zip(names, parts.tolist(), strict=True))


def largest_first(parts: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return signed parts in order of their size; those of one name are added, those that add nothing left out."""
    totals: dict[str, float] = {}
    for name, part in parts:
        totals[name] = totals.get(name, 0.0) + part
    return sorted((part for part in totals.items() if part[1]), key=lambda part: -abs(part[1]))


def vector(name: str, values: ArrayLike, width: int) -> NDArray[np.float64]:
    """Return values as a vector, or say how many there must be."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (width,):
        trees = "; the last is of trees: see appletaste.explain" if numbers.shape == (width + 1,) else ""
        raise InputError(f"{name} must have {width} numbers, one for each feature, got shape {numbers.shape}{trees}")
    return numbers
