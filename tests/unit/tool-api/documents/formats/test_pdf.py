"""A PDF is read page by page, with what its forms and comments say."""

from __future__ import annotations

from support.document_text import lines_of
from support.documents import pdf
from tool_api.documents.formats.pdf import open_document


def made(*objects: str, root: str = "", trailer: str = "") -> bytes:
    """A PDF of objects, counted from 3, of which those that begin as pages are its pages."""
    pages = [f"{number} 0 R" for number, one in enumerate(objects, 3) if one.startswith("<</Type/Page ")]
    whole = [
        f"<</Type/Catalog/Pages 2 0 R{root}>>",
        f"<</Type/Pages/Kids[{' '.join(pages)}]/Count {len(pages)}/MediaBox[0 0 595 842]"
        "/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>",
        *objects,
    ]
    data, places = b"%PDF-1.7\n", list[int]()
    for number, content in enumerate(whole, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(whole) + 1
    return (
        data
        + f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R{trailer}>>\n"
        f"startxref\n{len(data)}\n%%EOF".encode()
    )


def stream(content: str, more: str = "") -> str:
    return f"<<{more}/Length {len(content)}>>stream\n{content}\nendstream"


def text(content: str) -> str:
    return stream(f"BT /F1 12 Tf 72 720 Td ({content}) Tj ET")


def test_the_values_of_a_filled_form_are_read() -> None:
    fields = (
        "<</Subtype/Widget/FT/Tx/T(Name)/V(Ada L)/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Tx/T(Note)/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Btn/T(Agree)/V/Yes/AS/Yes/AP<</N<</Yes 12 0 R/Off 12 0 R>>>>/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Btn/T(News)/V/Off/AS/Off/AP<</N<</Yes 12 0 R/Off 12 0 R>>>>/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Ch/Ff 131072/T(Colour)/V(red)/Opt[(red)(green)]/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Ch/Ff 2097152/T(Days)/V[(Mon)(Wed)]/Opt[(Mon)(Tue)(Wed)]/Rect[0 0 9 9]>>",
        "<</FT/Btn/Ff 32768/T(Size)/V/L/Kids[11 0 R 13 0 R]>>",
    )
    numbers = range(5, 5 + len(fields) - 1)
    data = made(
        f"<</Type/Page /Parent 2 0 R/Contents 4 0 R/Annots[{' '.join(f'{n} 0 R' for n in numbers)} 14 0 R 13 0 R]>>",
        text("An application"),
        *fields[:-1],
        "<</Unused true>>",
        stream("", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]"),
        "<</Subtype/Widget/Parent 15 0 R/AS/L/AP<</N<</L 12 0 R/Off 12 0 R>>>>/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/Parent 15 0 R/AS/Off/AP<</N<</S 12 0 R/Off 12 0 R>>>>/Rect[0 0 9 9]>>",
        fields[-1].replace("11 0 R 13 0 R", "14 0 R 13 0 R"),
        root=f"/AcroForm<</Fields[{' '.join(f'{n} 0 R' for n in numbers)} 15 0 R]>>",
    )
    assert lines_of(open_document(data)) == [
        "[PDF, 1 page]",
        "--- page 1 of 1 ---",
        "An application",
        'Field "Name": Ada L',
        'Field "Note": empty',
        'Field "Agree": ticked',
        'Field "News": not ticked',
        'Field "Colour": red (of: red, green)',
        'Field "Days": Mon, Wed (of: Mon, Tue, Wed)',
        'Field "Size": L',
    ]


def test_fields_that_the_form_does_not_list_are_read_as_well() -> None:
    data = made(
        "<</Type/Page /Parent 2 0 R/Contents 4 0 R/Annots[5 0 R 6 0 R]>>",
        text("so"),
        "<</Subtype/Widget/FT/Tx/T(Name)/V(Ada)/Rect[0 0 9 9]>>",
        "<</Subtype/Widget/FT/Btn/T(Agree)/AS/Yes/Rect[0 0 9 9]>>",
    )
    assert lines_of(open_document(data))[3:] == ['Field "Name": Ada', 'Field "Agree": ticked']


def test_an_xfa_form_is_said() -> None:
    data = made(
        "<</Type/Page /Parent 2 0 R/Contents 4 0 R>>",
        text("Please wait"),
        stream("<xdp/>"),
        root="/AcroForm<</Fields[]/XFA 5 0 R>>/NeedsRendering true",
    )
    said = lines_of(open_document(data))
    assert said[1] == "[its form is an XFA form, which is not read; ask for a copy that is printed to PDF]"
    assert "Please wait" in said


def test_comments_on_a_page_are_read_and_links_are_not_taken_for_them() -> None:
    data = made(
        "<</Type/Page /Parent 2 0 R/Contents 4 0 R/Annots[5 0 R 6 0 R 7 0 R 8 0 R]>>",
        text("so"),
        "<</Subtype/Text/T(Ada)/Contents(why?)/Rect[0 0 9 9]>>",
        "<</Subtype/Highlight/Contents(good)/Rect[0 0 9 9]>>",
        "<</Subtype/Link/Contents(a link)/Rect[0 0 9 9]>>",
        "<</Subtype/Ink/Rect[0 0 9 9]/InkList[[1 1 2 2]]>>",
    )
    assert lines_of(open_document(data))[2:] == [
        "so",
        "Comment by Ada: why?",
        "Comment: good",
        "[not read: 1 drawing by hand]",
    ]


PICTURE = stream("abc", "/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceRGB")


def pictured(content: str) -> bytes:
    page = "<</Type/Page /Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</P 5 0 R>>/Font<</F1<</Type/Font"
    return made(f"{page}/Subtype/Type1/BaseFont/Helvetica>>>>>>>>", stream(content), PICTURE)


def test_a_page_that_is_a_picture_is_said() -> None:
    assert lines_of(open_document(pictured("q 595 0 0 842 0 0 cm /P Do Q")))[2:] == [
        "[page 1 is a picture without text, such as a scan; open the file in the browser and look at it]"
    ]


def test_pictures_beside_text_are_counted_and_signs_are_not() -> None:
    content = "BT /F1 12 Tf 72 720 Td (so) Tj ET q 300 0 0 200 0 0 cm /P Do Q q 20 0 0 20 0 0 cm /P Do Q"
    assert lines_of(open_document(pictured(content)))[2:] == ["so", "[not read: 1 picture]"]


def test_a_broken_page_costs_no_other() -> None:
    whole = pdf("one", "two", "three")
    for broken in (
        whole.replace(b"7 0 obj\n<</Type/Page/", b"7 0 obj\n<</Type/None"),
        whole.replace(b"7 0 R", b"99 0 R"),
    ):
        said = lines_of(open_document(broken))
        assert said[:3] == ["[PDF, 3 pages]", "--- page 1 of 3 ---", "one"]
        assert said[-1] == "three"


def test_attached_files_are_named() -> None:
    data = made(
        "<</Type/Page /Parent 2 0 R/Contents 4 0 R>>",
        text("so"),
        stream("a,b", "/Type/EmbeddedFile"),
        "<</Type/Filespec/F(a.csv)/UF(a.csv)/EF<</F 5 0 R>>>>",
        root="/Names<</EmbeddedFiles<</Names[(a.csv) 6 0 R]>>>>",
    )
    assert lines_of(open_document(data))[2:] == ["so", "[not read: 1 attached file: a.csv]"]
