import Foundation
import PushModel
import Testing

@Suite struct JSONRandomTests {
    @Test(arguments: 0..<8) func randomValuesAreReadAsTheyWereMeant(seed: Int) throws {
        var generator = JSONGenerator(random: SeededRandom(UInt64(seed)))
        var document = JSONDocument()
        for _ in 0..<250 {
            let (text, value) = generator.value()
            try document.read(Array(text.utf8).span)
            let isAsMeant = JSONValue(document, document.root) == value && document.duplicateKeys.isEmpty
            #expect(isAsMeant, "\(text.debugDescription)")
            let foundation = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            let isUnderstoodAlike = value.equals(foundation)
            #expect(isUnderstoodAlike, "\(text.debugDescription)")
        }
    }

    /// What Foundation's reader and ours may disagree about, both ways:
    ///
    /// - It refuses numbers that no `Double` holds, such as `1e999`; ours keeps the digits.
    /// - It takes a byte order mark, UTF-16 and UTF-32; ours takes UTF-8 without a mark only.
    /// - It takes a comma before the end of an object.
    /// - It drops a byte order mark at the start of a string.
    /// - Of a key that stands twice it takes one value, we tell.
    /// - It reads up to 512 levels, ours 64.
    @Test(arguments: 0..<8) func mutatedTextIsNeverAcceptedAgainstFoundation(seed: Int) throws {
        var generator = JSONGenerator(random: SeededRandom(UInt64(1000 + seed)))
        var random = SeededRandom(UInt64(2000 + seed))
        var document = JSONDocument()
        var acceptedCount = 0
        var refusedCount = 0
        for _ in 0..<2000 {
            let text = mutated(Array(generator.value().text.utf8), using: &random)
            let foundation = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            do {
                try document.read(text.span)
                acceptedCount += 1
                let value = JSONValue(document, document.root)
                guard !value.hasImmenseNumber else { continue }
                let isUnderstoodAlike = foundation.map { isComparable(text, document) ? value.equals($0) : true } ?? false
                #expect(isUnderstoodAlike, "\(String(decoding: text, as: UTF8.self).debugDescription)")
            } catch {
                refusedCount += 1
                #expect((0...text.count).contains(error.offset))
                let isLenience =
                    error.reason == .nestedTooDeeply || !isPlainUTF8(text)
                    || text.dropFirst(max(0, error.offset)).first == UInt8(ascii: "}")
                let isExplained = foundation == nil || isLenience
                #expect(isExplained, "\(error) \(String(decoding: text, as: UTF8.self).debugDescription)")
            }
        }
        #expect(acceptedCount > 100 && refusedCount > 100)
    }

    private func isComparable(_ text: [UInt8], _ document: JSONDocument) -> Bool {
        document.duplicateKeys.isEmpty && !text.contains([0xEF, 0xBB, 0xBF])
    }

    private func isPlainUTF8(_ text: [UInt8]) -> Bool {
        String(validating: text, as: UTF8.self) != nil && !text.starts(with: [0xEF, 0xBB, 0xBF]) && !text.contains(0)
    }
}
