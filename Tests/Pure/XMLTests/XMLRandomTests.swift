import Basics
import Testing

@testable import XML

/// Random texts, which libxml2 judges too.
struct XMLRandomTests {
    /// True for what libxml2 takes although it is not well formed: a text with a NUL behind it, the version `1.`, and other names of UTF-8.
    private func isKnown(_ fault: XMLFault, in text: [UInt8]) -> Bool {
        switch fault.kind {
        case .outside: text[fault.offset] == 0
        case .declaration: text[fault.offset...].starts(with: "1.".utf8) && !text[fault.offset + 2].isDigit
        case .encoding: text[fault.offset...].starts(with: "utf".utf8)
        default: false
        }
    }

    @Test(.enabled(if: LibXML() != nil, "libxml2.so.2 is not installed: nothing else judged random XML"), arguments: 0..<20)
    func libxml2JudgesAlike(seed: Int) throws {
        let other = try #require(LibXML())
        var random = RandomXML(seed)
        var goodCount = 0
        for _ in 0..<10_000 {
            let text = random.mutation()
            var fault: XMLFault?
            do throws(XMLFault) { _ = try XMLScanner.root(of: text.span) } catch { fault = error }
            if fault == nil { goodCount += 1 }
            guard (fault == nil) != other.isWellFormed(text) else { continue }
            let isExplained = fault.map { isKnown($0, in: text) } ?? false
            #expect(isExplained, "\(String(decoding: text, as: UTF8.self).debugDescription): \(fault?.sentence ?? "taken")")
        }
        #expect(goodCount > 500)
    }
}
