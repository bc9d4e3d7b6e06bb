import PushModel

/// SplitMix64: the same numbers from the same seed on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    mutating func chance(_ part: Int, of whole: Int) -> Bool { below(whole) < part }
}

/// `text` as read, or the error.
func readJSON(_ text: [UInt8]) throws(JSONError) -> JSONDocument {
    var document = JSONDocument()
    try document.read(text.span)
    return document
}

func readJSON(_ text: String) throws(JSONError) -> JSONDocument {
    try readJSON(Array(text.utf8))
}

func failure(of text: [UInt8]) -> JSONError? {
    do {
        _ = try readJSON(text)
        return nil
    } catch {
        return error
    }
}

func moment(_ text: String) -> Timestamp? {
    Timestamp(Array(text.utf8).span)
}

/// Changes one to four places of `text`: bytes flipped, put in, taken out, doubled or exchanged for what parsers trip over.
func mutated(_ text: [UInt8], using random: inout SeededRandom) -> [UInt8] {
    var result = text
    for _ in 0...random.below(4) {
        let place = random.below(result.count + 1)
        let end = min(result.count, place + random.below(12))
        switch random.below(6) {
        case 0 where place < result.count: result[place] ^= 1 << UInt8(random.below(8))
        case 1: result.insert(UInt8(random.below(256)), at: place)
        case 2: result.removeSubrange(place..<end)
        case 3: result.insert(contentsOf: Array(result[place..<end]), at: random.below(result.count + 1))
        case 4: result.replaceSubrange(place..<end, with: Array(trippingPieces[random.below(trippingPieces.count)].utf8))
        default: result.insert(contentsOf: Array(trippingPieces[random.below(trippingPieces.count)].utf8), at: place)
        }
    }
    return result
}

private let trippingPieces = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "-", "0", "00", "1e999", "-0", ".5", "1.",
    "E+",
    "9223372036854775808", "null", "true", "nul", "\u{0}", "\n", "\u{FEFF}", "[[[[[[[[", "{\"\":", "\"a\":1,", "{}", "[]", "\"\"",
    " ",
]
