"""Compiled code of other sources is not used: a caller would go on with the old code of what it calls."""

from pathlib import Path

from appletaste.kernels import _jit, gaussian


def test_code_of_other_sources_is_deleted(tmp_path):
    code, other = tmp_path / "value.judge-1.py311.nbi", tmp_path / "somebody.txt"
    half = tmp_path / "value.judge-1.17.part"  # of a process that was killed while it wrote
    code.write_text("old")
    half.write_text("o")
    other.write_text("stays")
    _jit.drop_stale(tmp_path)  # no stamp: nobody knows of what it was made
    assert not code.exists()
    assert not half.exists()
    assert other.exists()
    code.write_text("of these sources")
    _jit.drop_stale(tmp_path)
    assert code.exists()
    (tmp_path / _jit.STAMP).write_text("of other sources")
    _jit.drop_stale(tmp_path)
    assert not code.exists()
    assert (tmp_path / _jit.STAMP).read_text() == _jit.sources()


def test_any_source_counts(tmp_path, monkeypatch):
    here = Path(_jit.__file__).parent
    for path in here.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(_jit, "__file__", str(tmp_path / "_jit.py"))
    before = _jit.sources()
    with (tmp_path / "linear.py").open("a") as file:
        file.write("# changed\n")
    assert _jit.sources() != before


def test_the_code_in_use_has_a_stamp():
    if not _jit.can_cache():
        return
    assert (Path(gaussian.score_item.stats.cache_path) / _jit.STAMP).read_text() == _jit.sources()
