"""What a team calls things is a setting of its stream: an event that lasts, travels, and changes no decision."""

import pytest

import appletaste as at
from appletaste.errors import OptionError
from appletaste.records.stores import open_store
from appletaste.streams.transfer import export_stream, import_stream

from .playing import made, play, seated

WORDS = "order,fraud,fine,hold,let through,EUR"


def test_words_last_and_nothing_is_decided_by_them(home):
    store = home.open()
    stream, silent = made(store, words="order,fraud", seed=7), at.Stream.create(store, "silent", seated(), seed=7)
    assert stream.words.positives == "frauds"
    assert silent.words.own == {}
    play(stream, stop=30)
    stream.snapshot()
    stream.set_words(WORDS, by="ann")
    play(stream, start=30)
    play(silent)
    assert (stream.log().probability == silent.log().probability).all()
    stream.snapshot()
    stream.close()
    with at.Stream.open(store, "orders") as again:
        assert (again.words.acted, again.words.currency) == ("held", "EUR")
        again.verify()
        again.set_words({}, by="ben")
        assert again.words.own == {}
    silent.close()
    store.close()


def test_words_travel_with_a_stream(tmp_path):
    with at.Stream.create(tmp_path / "one.db", "orders", seated(), words=WORDS) as stream:
        play(stream)
        stream.set_words("call,sale", by="ann")
        export_stream(stream.record.place, tmp_path / "orders.stream")
    store = open_store(tmp_path / "two.db")
    import_stream(tmp_path / "orders.stream", store)
    store.close()
    with at.Stream.open(tmp_path / "two.db", "orders") as stream:
        assert stream.words.own == {"item": "call", "items": "calls", "positive": "sale", "positives": "sales"}


def test_a_wrong_word_makes_no_stream(tmp_path):
    with pytest.raises(OptionError, match="begins with a letter"):
        at.Stream.create(tmp_path / "one.db", "orders", seated(), words={"positive": "=1+1"})
    assert not (tmp_path / "one.db").exists()
