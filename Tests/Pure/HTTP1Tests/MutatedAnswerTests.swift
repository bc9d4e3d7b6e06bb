import HTTP1
import Testing

/// A small generator with a seed, so that a failure can be repeated (xorshift64*).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }
}

struct MutatedAnswerTests {
    @Test(arguments: 1...20) func mutationsNeverCrashNorDependOnTheCuts(_ seed: Int) {
        var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
        let texts = ValidAnswerTests.cases.map { Array($0.text.utf8) } + InvalidAnswerTests.cases.map { Array($0.text.utf8) }
        var accepted = 0
        for _ in 0..<500 {
            var bytes = texts.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 0...3, using: &random) { Self.mutate(&bytes, texts, using: &random) }
            let whole = Reading([bytes[...]])
            #expect(Reading(Self.pieces(of: bytes, using: &random)) == whole)
            if case .answer(let status, let fields, let body, _) = whole {
                accepted += 1
                #expect(
                    Self.isConsistent(bytes, status, fields, body), "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
        #expect(accepted > 5)
    }

    private static func mutate(_ bytes: inout [UInt8], _ texts: [[UInt8]], using random: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert([0, 9, 10, 13, 32, 44, 48, 58].randomElement(using: &random) ?? 0, at: place)
        case 3: bytes.removeSubrange(place...)
        default: bytes.insert(contentsOf: texts.randomElement(using: &random) ?? [], at: place)
        }
    }

    private static func pieces(of bytes: [UInt8], using random: inout SeededGenerator) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...40, using: &random))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }

    /// An accepted answer with a length has exactly so many bytes behind its head.
    private static func isConsistent(_ bytes: [UInt8], _ status: Int, _ fields: [String], _ body: String) -> Bool {
        let lengths = fields.compactMap { field -> Int? in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts[0].lowercased() == "content-length" else { return nil }
            return parts[1].split(separator: ",").first.flatMap { Int($0.filter { $0 != " " && $0 != "\t" }) }
        }
        guard status != 204, status != 304, let length = lengths.first else { return (200..<600).contains(status) }
        guard length >= 0 else { return false }
        let tail = String(decoding: bytes.suffix(length), as: UTF8.self)
        return lengths.allSatisfy { $0 == length } && tail == body
    }
}
