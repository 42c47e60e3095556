"""Colours by the names of CSS."""

import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.scene.css_colors import css_color


@pytest.mark.parametrize(
    ("text", "color"),
    [
        ("white", (255, 255, 255)),
        ("RebeccaPurple", (102, 51, 153)),
        ("#abc", (170, 187, 204)),
        ("#aabbcc80", (170, 187, 204)),
        ("rgb(255, 0, 51)", (255, 0, 51)),
        ("rgb(100% 0% 20% / 0.5)", (255, 0, 51)),
        ("hsl(120deg 100% 25%)", (0, 127.5, 0)),
    ],
)
def test_colours_of_css(text, color):
    assert css_color(text) == pytest.approx([c / 255 for c in color])
    assert mw.Environment(text).background == css_color(text)


@pytest.mark.parametrize(
    "text", ["", "whit", "#ab", "#ggg", "rgb(1 2)", "rgb(nan 0 0)", "hsl(a b c)", "url(x)"]
)
def test_what_is_no_colour_is_told(text):
    assert css_color(text) is None
    with pytest.raises(ValidationError, match="as in CSS"):
        mw.Environment(text)
