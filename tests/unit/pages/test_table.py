"""One table, shown as text, Markdown and HTML, and on the terminal."""

import re

import pytest

from appletaste.cli.console import show_table
from appletaste.pages.page import Table, html_page, show

TABLE = Table("of <two>", ("who", "a & b", "mark"), [("long name | x", "1.5", "2.0 ✓"), ("it", "-120.25", "")])


def test_text_has_words_to_the_left_and_numbers_to_the_right():
    assert TABLE.text().split("\n") == [
        "of <two>",
        "who              a & b   mark",
        "long name | x      1.5  2.0 ✓",
        "it             -120.25",
    ]
    assert Table("", *(TABLE.header, TABLE.rows)).text() == TABLE.text().partition("\n")[2]
    assert Table("", ("a", "b"), []).text() == "a  b"


def test_rows_of_another_length_are_no_table():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Table("", ("a", "b"), [("1",)]).text()


def test_markdown_keeps_bars_in_their_cells():
    assert TABLE.markdown().split("\n") == [
        "*of <two>*",
        "",
        "| who | a & b | mark |",
        "|---|---|---|",
        "| long name \\| x | 1.5 | 2.0 ✓ |",
        "| it | -120.25 |  |",
        "",
    ]
    assert "\n|---|---:|---:|\n" in TABLE.markdown(right=True)
    assert Table("", ("a",), []).markdown() == "| a |\n|---|\n"


def test_html_escapes_and_colours():
    page = TABLE.html("text")
    assert '<table class="text"><caption>of &lt;two&gt;</caption>' in page
    assert "<th>a &amp; b</th>" in page
    assert '<td class="good">2.0 ✓</td>' in page
    assert '<td class="bad">✗</td>' in Table("", ("a",), [("✗",)]).html()
    assert (
        "<td><code>appletaste report &lt;log&gt;</code></td>"
        in Table("", ("a",), [("appletaste report <log>",)]).html()
    )
    assert "caption" not in Table("", ("a",), []).html()


def test_every_form_has_the_same_cells(capsys):
    show_table(TABLE)
    for text in (TABLE.text(), TABLE.markdown(), TABLE.html(), capsys.readouterr().out):
        place = 0
        for cell in [*TABLE.header, "long name", "1.5", "2.0 ✓", "it", "-120.25"]:
            place = text.index(cell.replace("&", "&amp;") if "<td>" in text else cell, place) + len(cell)


def test_the_terminal_has_the_lines_of_the_text(capsys):
    show_table(TABLE)
    title, *lines = (line.rstrip() for line in capsys.readouterr().out.rstrip("\n").split("\n"))
    assert [re.sub(" +", " ", line) for line in lines] == [
        re.sub(" +", " ", line) for line in TABLE.text().split("\n")[1:]
    ]
    assert title == TABLE.title


def test_numbers_that_are_none_are_dashes():
    assert (show(1 / 3), show(2.5, 0), show(-0.05, 1), show(float("nan")), show(None, 2)) == (
        "0.333",
        "2",
        "-0.1",
        "-",
        "-",
    )


def test_a_page_needs_nothing_else():
    page = html_page("a < b", ["<p>one</p>", "<p>two</p>"])
    assert "<title>a &lt; b</title><style>" in page
    assert page.index("<p>one</p>") < page.index("<p>two</p>") < page.index("</body></html>")
    assert not re.findall(r"(?:src|href)=", page)
