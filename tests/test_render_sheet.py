import re
from xml.etree import ElementTree

from junqi.layout import parse_layout
from junqi.pieces import KINDS
from junqi.render_sheet import SHEET_STYLE, render_layout_use, sheet
from junqi.render_svg import render_layout_svg

SAMPLE = "cigdcegkefkfaibgidjhhhjlj"


def test_a_board_uses_only_what_the_sheet_draws() -> None:
    ids = re.findall(r' id="([^"]+)"', sheet())
    assert len(ids) == len(set(ids)) == 1 + len(KINDS)
    used = re.findall(r'href="#([^"]+)"', render_layout_use(parse_layout(SAMPLE), "one"))
    assert used == ["jq-ground", *(f"jq-{letter}" for letter in SAMPLE)]
    assert set(used) == set(ids)


def test_pieces_stand_where_the_whole_picture_has_them() -> None:
    layout = parse_layout(SAMPLE)
    picture = render_layout_svg(layout)
    whole = re.findall(r"jq-piece.*?translate\((\d+) (\d+)\)", picture)
    used = re.findall(r'href="#jq-[a-l]" x="(\d+)" y="(\d+)"', render_layout_use(layout, "one"))
    assert used == whole
    size = re.search(r'viewBox="[^"]+"', picture)
    assert size is not None
    assert size[0] in render_layout_use(layout, "one")
    assert size[0] in sheet()


def test_every_piece_has_its_three_names() -> None:
    for kind in KINDS:
        assert f">{kind.chinese}<" in sheet()
        assert f'jq-letter" dy=".36em">{kind.letter}<' in sheet()
    for name in ("zh", "en", "letter"):
        assert f".jq-piece .jq-{name}{{display:var(--jq-{name}," in SHEET_STYLE


def test_both_are_well_formed_and_small() -> None:
    board = render_layout_use(parse_layout(SAMPLE), "<a> & \x1b b")
    for text in (sheet(), board):
        ElementTree.fromstring(text)
    assert "&lt;a&gt; &amp;" in board
    assert len(board) < 1200
