import Glibc
import TestSupport
import Testing

@testable import XML

/// What is well-formed XML, and where the first fault is seen.
struct XMLScannerTests {
    private func fault(_ bytes: [UInt8], allowing leniency: XMLScanner.Leniency = []) -> XMLFault? {
        do throws(XMLFault) {
            _ = try XMLScanner.root(of: bytes.span, allowing: leniency)
            return nil
        } catch {
            return error
        }
    }

    private func fault(_ text: String, allowing leniency: XMLScanner.Leniency = []) -> XMLFault? {
        fault(Array(text.utf8), allowing: leniency)
    }

    @Test(
        arguments: RandomXML.texts + [
            "<a/>", "<a></a>", "<a ></a\n>", "<a\r\n/>", " \t\r\n<a/> \t\r\n", "<a/><!----><?b?>", "<A a='' A=\"\"/>", "<:/>",
            "<a:b:c x:y=''/>",
            "<_1-2.3·\u{300}\u{203F}/>",
            "<\u{C0}\u{2FF}\u{37F}\u{200C}\u{2070}\u{2C00}\u{3001}\u{D7FF}\u{F900}\u{FDF0}\u{FFFD}\u{10000}\u{EFFFF}/>",
            "<a>\t\n\r \u{7F}\u{80}\u{D7FF}\u{E000}\u{FFFD}\u{10000}\u{10FFFF}</a>",
            "<a>&#9;&#10;&#x0D;&#x20;&#0000065;&#x10FFFF;&#xfffd;</a>",
            "<a b='\"&lt;&gt;&amp;&quot;&apos;>\n'/>", "<a>]] > ]]&gt; ></a>", "<a><![CDATA[]]></a>", "<a><![CDATA[]]]]></a>",
            "<a><![CDATA[&<b>&#0;--]]></a>", "<a><!-- & <b> ]]> <?xml?> - --></a>", "<a><?xmla xml?><?x <a>&?></a>",
            "<?xml-stylesheet href=''?><a/>",
            "<?xml version='1.0'?><a/>", "<?xml\tversion = \"1.0\"\nencoding = 'utf-8'\rstandalone='no' ?><a/>",
            "<?xml version='1.99' encoding='Utf-8'?><a>é</a>", "<?xml version='1.0' encoding='US-ASCII'?><a/>",
        ])
    func whatIsWellFormedIsTaken(text: String) {
        #expect(fault(text) == nil)
    }

    @Test(
        arguments: [
            // Characters.
            ("<toast>\u{B}</toast>", .character, 7), ("<a b='\u{0}'/>", .character, 6), ("<a>\u{1F}</a>", .character, 3),
            ("<a>\u{FFFE}</a>", .character, 3), ("<a>é\u{FFFF}</a>", .character, 5), ("<a><!--\u{C}--></a>", .character, 7),
            ("<a><?b \u{8}?></a>", .character, 7), ("<a><![CDATA[\u{1B}]]></a>", .character, 12), ("<a/>\u{0}", .outside, 4),
            // References.
            ("<toast>Tom & Jerry</toast>", .ampersand, 11), ("<a b='?c=1&d=2'/>", .ampersand, 10), ("<a>&</a>", .ampersand, 3),
            ("<a>&;</a>", .ampersand, 3), ("<a>&amp</a>", .ampersand, 3), ("<a>& amp;</a>", .ampersand, 3),
            ("<a>&#65</a>", .ampersand, 3),
            ("<a>&nbsp;</a>", .reference, 3), ("<a>&AMP;</a>", .reference, 3), ("<a>&#0;</a>", .reference, 3),
            ("<a>&#11;</a>", .reference, 3),
            ("<a>&#xB;</a>", .reference, 3), ("<a>&#XA;</a>", .reference, 3), ("<a>&#xD800;</a>", .reference, 3),
            ("<a>&#xFFFE;</a>", .reference, 3),
            ("<a>&#x110000;</a>", .reference, 3), ("<a>&#4294967361;</a>", .reference, 3), ("<a>&#;</a>", .reference, 3),
            ("<a>&#x;</a>", .reference, 3), ("<a>&#6A;</a>", .reference, 3), ("<a b='&lt'/>", .ampersand, 6),
            ("<a>&l</a>t;", .ampersand, 3),
            // Names, tags and attributes.
            ("<", .name, 1), ("< a/>", .name, 1), ("<1/>", .name, 1), ("<-a/>", .name, 1), ("<\u{B7}/>", .name, 1),
            ("<\u{D7}/>", .name, 1),
            ("<\u{37E}/>", .name, 1), ("<a\u{2190}/>", .tag, 2), ("<a\u{F0000}/>", .tag, 2), ("</>", .name, 2),
            ("<a/ >", .tag, 3), ("<a", .end, 2),
            ("<a b", .end, 4), ("<a b>", .attribute, 4), ("<a b=c/>", .attribute, 5), ("<a b='c", .end, 7),
            ("<a b='c'd='e'/>", .tag, 8),
            ("<a b='<'/>", .lessThan, 6), ("<a =''/>", .name, 3), ("<a b='1' b='2'/>", .secondAttribute, 9),
            ("<a b:c='' b='' b:c=''/>", .secondAttribute, 15),
            ("<toast a='>", .end, 11), ("<a></a b=''>", .tag, 7), ("<a></a/>", .tag, 6),
            // Elements.
            ("", .root, 0), ("\u{FEFF}", .root, 3), ("<!-- a -->", .root, 10), ("<toast>", .end, 7), ("</toast>", .closingTag, 2),
            ("<a/></a>", .closingTag, 6),
            ("<toast><text></toast>", .closingTag, 15), ("<a><b></a></b>", .closingTag, 8), ("<ab></a>", .closingTag, 6),
            ("<a></ab>", .closingTag, 5),
            ("<a></A>", .closingTag, 5), ("<a:b></a>", .closingTag, 7), ("<toast/><toast/>", .secondRoot, 9),
            ("<a/>text", .outside, 4), ("text<a/>", .outside, 0),
            ("<a/>&#32;", .outside, 4), ("<a/><![CDATA[]]>", .tag, 4), ("\u{FEFF}\u{FEFF}<a/>", .outside, 3), ("{}", .outside, 0),
            // Comments, sections, instructions.
            ("<a>]]></a>", .sectionEnd, 3), ("<a><![CDATA[]]>]]></a>", .sectionEnd, 15), ("<a><![CDATA[</a>", .end, 16),
            ("<a><![cdata[]]></a>", .tag, 3),
            ("<!-- a -- b --><a/>", .comment, 9), ("<!-- --->", .comment, 7), ("<!--><a/>", .end, 9), ("<!-- <toast/>", .end, 13),
            ("<!- a --><a/>", .tag, 0),
            ("<??><a/>", .name, 2), ("<? a?><a/>", .name, 2), ("<?a", .end, 3), ("<?a?", .instruction, 0),
            ("<?a&b?><a/>", .instruction, 0),
            ("<?XML version='1.0'?><a/>", .instruction, 0), ("<a><?xMl?></a>", .instruction, 3),
            // Declarations.
            (" <?xml version='1.0'?><toast/>", .lateDeclaration, 1), ("\n<?xml version='1.0'?><toast/>", .lateDeclaration, 1),
            ("<a/><?xml version='1.0'?>", .lateDeclaration, 4),
            ("<?xml version='1.0'?><?xml version='1.0'?><a/>", .lateDeclaration, 21),
            ("<?xml?><a/>", .declaration, 5), ("<?xml ?><a/>", .declaration, 5),
            ("<?xml encoding='utf-8'?><a/>", .declaration, 5),
            ("<?xml version=1.0?><a/>", .attribute, 14), ("<?xml version='1.0\"?><a/>", .lessThan, 21),
            ("<?xml version='2.0'?><a/>", .declaration, 15),
            ("<?xml version='1.'?><a/>", .declaration, 15), ("<?xml version='1.0'encoding='utf-8'?><a/>", .declaration, 19),
            ("<?xml version='1.0' standalone='yes' encoding='utf-8'?><a/>", .declaration, 37),
            ("<?xml version='1.0' standalone='Yes'?><a/>", .declaration, 32),
            ("<?xml version='1.0' encoding='8'?><a/>", .declaration, 30),
            ("<?xml version='1.0' encoding=''?><a/>", .declaration, 30), ("<?xml version='1.0'><a/>", .declaration, 19),
            ("<?xml version='1.0'? ><a/>", .declaration, 20), ("<?xml version='1.0' other='1'?><a/>", .declaration, 20),
            ("<?xml version=\"1.0\" encoding=\"utf-16\"?><toast/>", .encoding, 30),
            ("<?xml version='1.0' encoding='ISO-8859-1'?><a/>", .encoding, 30),
            ("<?xml version='1.0' encoding='utf8'?><a/>", .encoding, 30),
            ("<?xml version='1.0' encoding='us-ascii'?><a>é</a>", .encoding, 30),
            // Document types.
            ("<!DOCTYPE toast><toast/>", .documentType, 0), ("<a/><!DOCTYPE a>", .documentType, 4),
            ("<a><!ELEMENT a ANY></a>", .tag, 3),
        ] as [(String, XMLFault.Kind, Int)])
    func whatIsNotIsRefusedAtItsFirstFault(text: String, kind: XMLFault.Kind, offset: Int) {
        #expect(fault(text) == XMLFault(kind, at: offset))
    }

    @Test(
        arguments: [
            ([0x80], 0), ([0xC3], 0), ([0xC0, 0xAF], 0), ([0xED, 0xA0, 0x80], 0), ([0xF4, 0x90, 0x80, 0x80], 0),
            ([0xE2, 0x82], 0), ([0x61, 0xFF], 1),
        ] as [([UInt8], Int)])
    func whatIsNoUTF8IsRefusedEverywhere(bytes: [UInt8], offset: Int) {
        for (before, after) in [
            ("<a>", "</a>"), ("<a b='", "'/>"), ("<a><!--", "--></a>"), ("<a><![CDATA[", "]]></a>"), ("<?a ", "?><a/>"),
            ("<a", "/>"),
        ] {
            let text = Array(before.utf8) + bytes + Array(after.utf8)
            #expect(fault(text) == XMLFault(.utf8, at: before.utf8.count + offset), "\(before)")
        }
    }

    @Test func texts16BitsWideAreNone() {
        for bytes: [UInt8] in [
            [0xFF, 0xFE, 0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E, 0], [0xFE, 0xFF, 0, 0x3C], [0x3C, 0, 0x61, 0, 0x2F, 0, 0x3E, 0],
        ] {
            #expect(fault(bytes) != nil)
        }
    }

    @Test func depthAndNumberOfAttributesHaveLimits() {
        func nested(_ count: Int) -> String { String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count) }
        #expect(fault(nested(64)) == nil && fault(nested(65)) == XMLFault(.depth, at: 193))
        let shallow = Array(nested(3).utf8)
        #expect(throws: XMLFault(.depth, at: 7)) {
            var scanner = XMLScanner(shallow.span, maximumDepth: 2)
            while try scanner.next() != .finished {}
        }
        func attributes(_ count: Int) -> String { "<a \((0..<count).map { "a\($0)=''" }.joined(separator: " "))/>" }
        #expect(fault(attributes(64)) == nil && fault(attributes(65))?.kind == .attributeCount)
    }

    @Test func eachLeniencyForgivesItsOwnRuleOnly() {
        let documents = "<?xml version='1.0'?><a/>\n<?xml version='1.0'?><b></b>\n"
        #expect(fault(documents, allowing: .anyNumberOfRoots) == nil && fault("", allowing: .anyNumberOfRoots) == nil)
        #expect(fault("<a>\(documents)</a>", allowing: .anyNumberOfRoots)?.kind == .lateDeclaration)
        #expect(fault("<?xml version='1.0' encoding='utf-16'?><a>é</a>", allowing: .anyEncoding) == nil)
        #expect(fault("<?xml version='1.0' encoding='-'?><a/>", allowing: .anyEncoding)?.kind == .declaration)
        for text in ["&", "&nbsp;", "&#0;", "\u{B}", "\u{FFFE}"] {
            for whole in ["<a>\(text)</a>", "<a b='\(text)'/>"] {
                #expect(fault(whole, allowing: .anyCharacter) == nil)
                #expect(fault(whole, allowing: [.anyNumberOfRoots, .anyEncoding]) != nil)
            }
        }
        #expect(fault([0x3C, 0x61, 0x3E, 0xFF, 0x3C, 0x2F, 0x61, 0x3E], allowing: .anyCharacter) == nil)
        #expect(
            fault("<a b='<'/>", allowing: .anyCharacter)?.kind == .lessThan && fault("<a>]]></a>", allowing: .anyCharacter) != nil
        )
    }

    /// The events of a text, names and characters read from their places: `<name`, `name=value`, text, `[section]` and `>`.
    private func events(_ whole: String) throws -> [String] {
        let text = Array(whole.utf8)
        func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        var scanner = XMLScanner(text.span)
        var seen: [String] = []
        var isOver = false
        while !isOver {
            let event = try scanner.next()
            var bytes: [UInt8] = []
            switch event {
            case .start(let name):
                seen.append("<\(string(Array(text[name])))")
                for number in 0..<scanner.attributeCount {
                    let attribute = scanner.attribute(number)
                    try scanner.append(attribute.value, to: &bytes)
                    seen.append("\(string(Array(text[attribute.name])))=\(string(bytes))")
                    bytes = []
                }
            case .end: seen.append(">")
            case .text(let range):
                try scanner.append(range, to: &bytes)
                seen.append(string(bytes))
            case .literal(let range):
                try scanner.append(range, isLiteral: true, to: &bytes)
                seen.append("[\(string(bytes))]")
            case .finished: isOver = true
            }
        }
        #expect(scanner.isOutside && scanner.position == text.count)
        return seen
    }

    @Test func eventsGiveThePlacesOfAll() throws {
        let seen = try events(
            "<?xml version='1.0'?><p:a x='1&amp;\t' p:y = \"'\"><!-- c -->A&#x42;\r\nC\r<b/><![CDATA[&lt;\r\n]]></p:a>")
        #expect(seen == ["<p:a", "x=1&\t", "p:y='", "AB\nC\n", "<b", ">", "[&lt;\n]", ">"])
    }

    @Test(arguments: 0..<100) func whatIsWrittenInAnyWayIsReadAsItIsMeant(seed: Int) throws {
        let element = WrittenXML(seed)
        #expect(try events(element.text) == element.events, "\(element.text.debugDescription)")
    }

    @Test func everyFaultHasASentenceOfItsOwn() {
        let sentences = XMLFault.Kind.allCases.map { XMLFault($0, at: 17).sentence }
        #expect(Set(sentences).count == sentences.count)
        for sentence in sentences { #expect(sentence.contains("byte 17") && sentence.hasSuffix(".")) }
        #expect(XMLFault(.ampersand, at: 17).sentence == "The text has a bare & at byte 17; write &amp;.")
    }

    /// A text that ends where its fault was seen has none before that place, whatever bytes it is made of.
    @Test(arguments: 0..<20)
    func nothingBeforeTheFirstFaultIsOne(seed: Int) throws {
        var random = SeededRandom(seed)
        var texts = RandomXML(seed)
        let likely = Array("<>/?!-[]CDATA&;#x='\" axml:\u{0}".utf8)
        for round in 0..<1000 {
            let bytes = round % 2 == 0 ? texts.mutation() : (0..<random.below(60)).map { _ in likely[random.below(likely.count)] }
            for leniency in [XMLScanner.Leniency(), .anyCharacter, .anyNumberOfRoots] {
                guard let fault = fault(bytes, allowing: leniency) else { continue }
                try #require((0...bytes.count).contains(fault.offset))
                if fault.kind == .utf8 {
                    // A name that is cut there may be one that must not stand there.
                    #expect((1...4).allSatisfy { String(validating: bytes[fault.offset...].prefix($0), as: UTF8.self) == nil })
                } else {
                    let earlier = self.fault(Array(bytes[..<fault.offset]), allowing: leniency)
                    #expect(earlier == nil || earlier?.offset == fault.offset, "\(bytes): \(fault)")
                }
            }
        }
    }

    /// Eight times the text takes about eight times as long, never sixty-four times.
    @Test(arguments: ["<a b='c' d='e'>f&amp;</a>", "]", "<!---->", "<?a b?>", "<![CDATA[]]]]>", "&#00000000000065;", "<a/>", "é"])
    func timeIsProportionalToTheText(piece: String) {
        /// Nanoseconds of this thread, whatever others do beside it.
        func time(_ byteCount: Int) -> UInt64 {
            let text = Array("<r>\(String(repeating: piece, count: byteCount / piece.utf8.count))</r>".utf8)
            return (0..<3).map { _ in
                let start = threadTime()
                #expect(fault(text) == nil)
                return threadTime() - start
            }.min() ?? 0
        }
        let small = time(64 << 10)
        #expect(time(512 << 10) < max(small, 50_000) * 30)
    }
}

private func threadTime() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
