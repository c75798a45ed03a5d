"""Characters that Chrome writes into a PDF in place of common Chinese ones, and the common ones.

A font has one glyph for both, and the PDF names the first of its two characters. It looks the same, but searching and
copying yield another word. Unicode's compatibility tables have the plain forms of the first block; of the second block
only shared glyphs are listed here.
"""

from __future__ import annotations

import unicodedata

_KANGXI = range(0x2F00, 0x2FD6)
# Those of the supplement that share a glyph with another character in Noto's CJK fonts.
_RADICALS = (
    "⺂⺃⺅⺇⺉⺋⺍⺎⺏⺐⺒⺓⺔⺕⺖⺘⺙⺛⺞⺟⺠⺡⺣⺤⺦⺨⺩⺫⺭⺮⺯⺰⺱⺲⺳⺹⺺⺽⺾⺿⻁⻂⻃⻄⻅"
    "⻆⻇⻈⻉⻊⻋⻌⻍⻎⻐⻑⻒⻓⻔⻕⻖⻘⻙⻚⻛⻜⻝⻞⻟⻠⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳"
)
_PLAIN = (
    "乛乚亻𠘨刂㔾𭕄兀尣尢巳幺彑彐忄扌攵旡歺母民氵灬爫丬犭𤣩罒礻𥫗糹纟罓罒㓁耂肀𦥑艹艹虎衤覀西见"
    "角𧢲讠贝𧾷车辶辶辶钅長镸长门𨸏阝青韦页风飞食𩙿飠饣𩠐马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟"
)
PLAIN = {
    **{radical: unicodedata.normalize("NFKC", chr(radical)) for radical in _KANGXI},
    **{ord(radical): plain for radical, plain in zip(_RADICALS, _PLAIN, strict=True)},
}
