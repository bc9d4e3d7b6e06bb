import TestSupport

/// XML texts that the seed determines, and what is made of them by mutation.
struct RandomXML {
    private var random: SeededRandom

    init(_ seed: Int) { random = SeededRandom(seed) }

    /// Texts that are well formed, and have all that a text may have besides a document type.
    static let texts = [
        #"<toast launch="a=1&amp;b=2"><visual><binding template="ToastGeneric"><text>Hi &lt;you&gt;</text></binding></visual></toast>"#,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<tile><visual version='2'><binding template='TileSquare'/></visual></tile>\n",
        "\u{FEFF}<?xml version='1.0' standalone=\"yes\"?><badge value=\"7\"/><!-- end -->",
        "<a><![CDATA[<b> & ]] ]> ]]><?pi some ?content?><!-- - - --><b a='1' b=\"2\" c='&#65;'>&#x41;&quot;&apos;</b ></a >",
        "<é:名 ñ='\u{10000}'>日本語 \u{85}\u{7F}\u{FFFD}\u{10FFFF}</é:名>", "<_ a.b-c='>]]>'>]] > ]&gt;\r\n\t</_>",
        "<?xml version=\"1.1\"?><entry xmlns=\"http://a\" xmlns:a='b'><content a:type='x'><c/><c></c></content></entry>",
        "<!-- before --><?target?><a\n\tb\r=\n'c'\t/><?after ?>\n",
    ]

    private static let pieces: [[UInt8]] =
        [
            "<", ">", "&", ";", "&amp;", "&lt;", "&#", "&#x", "&#0;", "&#11;", "&#x1F600;", "&#xD800;", "&#xFFFE;", "&#65536;",
            "&#1114112;", "&#99999999999;", "&nbsp;", "&;", "& ", "\"", "'", "=", " ", "\n", "\r", "\t", "/", "/>", "</", "<a>",
            "</a>",
            "<a/>", "<a b='c' b='c'>", " a=''", " b=\"x\"", "<!--", "-->", "--", "-", "<?", "?>", "<?xml",
            "<?xml version='1.0'?>",
            "<?XML a?>", "<?xmla b?>", "<?a?>", "<![CDATA[", "]]>", "]]", "]", "<!", "<!ELEMENT a>", "a", "b", "1", ":", "-", ".",
            "_",
            "\u{0}", "\u{1}", "\u{8}", "\u{B}", "\u{C}", "\u{1F}", "\u{7F}", "\u{80}", "\u{85}", "é", "·", "×", "÷", "\u{300}",
            "\u{37E}",
            "\u{2003}", "\u{200C}", "\u{203F}", "\u{2190}", "\u{3000}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}",
            "\u{F0000}",
            "😀", "version='1.0'", "version='1.x'", "version='1.'", "version='2.0'", "encoding='UTF-8'", "standalone='no'",
            "standalone='maybe'", "xmlns:é=''",
        ].map { Array($0.utf8) } + [
            [0xC3], [0x80], [0xFF], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ]

    /// One of the texts with one to three mutations.
    mutating func mutation() -> [UInt8] {
        var bytes = Array(Self.texts[random.below(Self.texts.count)].utf8)
        for _ in 0...random.below(3) { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        let place = random.below(bytes.count + 1)
        let end = min(bytes.count, place + random.below(12))
        switch random.below(8) {
        case 0: bytes.removeSubrange(place..<end)
        case 1: bytes.insert(contentsOf: bytes[place..<end], at: random.below(bytes.count + 1))
        case 2: bytes.removeLast(bytes.count - place)
        case 3: if place < bytes.count { bytes[place] = UInt8(random.below(256)) }
        case 4: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
        case 5: bytes.replaceSubrange(place..<min(bytes.count, place + 1), with: Self.pieces[random.below(Self.pieces.count)])
        default: bytes.insert(contentsOf: Self.pieces[random.below(Self.pieces.count)], at: place)
        }
    }

}
