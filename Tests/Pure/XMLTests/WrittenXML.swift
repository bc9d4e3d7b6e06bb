import TestSupport

/// A random element, written in one of many ways, and the events that reading it must give.
struct WrittenXML {
    /// The text.
    private(set) var text = ""
    /// Of each start `<name` and its attributes, `name=value`, of character data the characters, of a section these in brackets, of each
    /// end `>`.
    private(set) var events: [String] = []
    private var random: SeededRandom

    private typealias Spelling = (written: String, read: String)

    private static let plain: [Spelling] = [
        ("a", "a"), ("é", "é"), ("😀", "😀"), (" ", " "), ("\t", "\t"), ("\r\n", "\n"), ("\r", "\n"), ("]]", "]]"),
    ]
    private static let referring: [Spelling] =
        plain + [
            ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#65;", "A"), ("&#x1F600;", "😀"),
            ("&#xd;", "\r"),
        ]
    private static let literal: [Spelling] = plain + [("&amp;", "&amp;"), ("<b>", "<b>"), ("--", "--"), ("'\"", "'\"")]

    init(_ seed: Int) {
        random = SeededRandom(seed)
        writeElement(depth: 4)
    }

    private mutating func pick<Item>(_ items: [Item]) -> Item { items[random.below(items.count)] }

    /// Some characters, as they are written and as they are read.
    private mutating func characters(of spellings: [Spelling]) -> Spelling {
        var whole: Spelling = ("", "")
        for _ in 0...random.below(6) {
            let spelling = pick(spellings)
            whole.written += spelling.written
            whole.read += spelling.read
        }
        return whole
    }

    private mutating func writeElement(depth: Int) {
        let name = pick(["a", "b:c", "é", "_1.2"])
        text += "<\(name)"
        events.append("<\(name)")
        for number in 0..<random.below(4) {
            let (value, quote) = (characters(of: Self.referring), pick(["'", "\""]))
            let (blank, equals) = (pick([" ", "\n\t"]), pick(["=", " = "]))
            text += "\(blank)k\(number)\(equals)\(quote)\(value.written)\(quote)"
            events.append("k\(number)=\(value.read)")
        }
        let count = depth == 0 ? 0 : random.below(4)
        if count == 0, random.below(2) == 0 {
            text += "/>"
        } else {
            text += ">"
            for _ in 0..<count { writeChild(depth: depth) }
            text += "</\(name)>"
        }
        events.append(">")
    }

    private mutating func writeChild(depth: Int) {
        switch random.below(3) {
        case 0: writeElement(depth: depth - 1)
        case 1:
            let section = characters(of: Self.literal)
            text += "<![CDATA[\(section.written)]]>"
            events.append("[\(section.read)]")
        default:
            // What is passed over divides the characters from those before.
            let (gap, data) = (pick(["<!-- & < -->", "<?target <a>&?>"]), characters(of: Self.referring))
            text += gap + data.written
            events.append(data.read)
        }
    }
}
