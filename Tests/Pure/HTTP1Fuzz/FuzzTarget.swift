// What libFuzzer runs, compiled by `.ci/fuzz` in one module with the parser: SwiftPM knows nothing of this folder.

/// Takes one input as all that a peer sent over a connection, and ends the process where a claim about the parser does not hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    for answersHead in [false, true] {
        for closes in [false, true] {
            let expected = ReferenceReading.read(bytes, answersHead: answersHead, closes: closes)
            for limits in [AnswerLimits(), .small] {
                Claims(bytes: bytes, answersHead: answersHead, closes: closes, limits: limits).check(expected)
            }
        }
    }
    return 0
}

extension AnswerLimits {
    /// So low that short inputs reach each of them.
    static let small = AnswerLimits(headByteCount: 100, fieldCount: 3, bodyByteCount: 12, chunkLineByteCount: 10)

    /// Memory that a parser may hold at most: twice what the limits allow it to keep, and twice its largest step.
    var memoryByteCount: Int { 2 * (headByteCount + max(bodyByteCount, headByteCount) + chunkLineByteCount) + (64 << 10) }
}

/// What is claimed of one input under one set of limits.
struct Claims {
    let bytes: [UInt8]
    let answersHead: Bool
    let closes: Bool
    let limits: AnswerLimits

    func check(_ expected: ReferenceReading?) {
        let whole = outcome([bytes[...]])
        agreesWithTheReference(whole, expected)
        doesNotDependOnTheCuts(whole)
        if case .answer = whole { endsWhereItEnds() }
    }

    /// The parser accepts what the reference accepts within the limits, with the same content, and nothing else.
    private func agreesWithTheReference(_ outcome: Outcome, _ expected: ReferenceReading?) {
        switch outcome {
        case .answer(let content):
            claim(content == expected?.content, "an accepted answer is read as RFC 9112 says")
            claim(expected?.isWithin(limits) == true, "an accepted answer is within the limits")
        case .fault(let fault):
            guard let expected else { return }
            claim(fault.isTooLarge && !expected.isWithin(limits), "a valid answer is refused for its size alone")
        case .incomplete:
            claim(expected == nil, "a whole answer is seen to be whole")
        }
    }

    private func doesNotDependOnTheCuts(_ whole: Outcome) {
        claim(outcome(bytes.indices.map { bytes[$0...$0] }) == whole, "the outcome is the same byte by byte")
        var random = Cuts(seed: bytes)
        for longest in [3, 17, 64] {
            claim(outcome(random.pieces(of: bytes, upTo: longest)) == whole, "the outcome is the same in pieces")
        }
        // A parser that has read this input, whatever came of it, reads it again like a new one.
        var used = AnswerParser(limits: limits)
        _ = outcome(random.pieces(of: bytes, upTo: 40), using: &used)
        claim(outcome([bytes[...]], using: &used) == whole, "a reset forgets everything")
    }

    /// No prefix of an answer with an end of its own is an answer, and no byte may follow it.
    private func endsWhereItEnds() {
        if closes,
            Claims(bytes: bytes, answersHead: answersHead, closes: false, limits: limits).outcome([bytes[...]]) == .incomplete
        {
            return
        }
        var random = Cuts(seed: bytes)
        claim(outcome([bytes.dropLast()]) != outcome([bytes[...]]), "an answer without its last byte is another")
        let twice = bytes + bytes
        let excess = Outcome.fault(.bytesAfterAnswer)
        claim(outcome([twice[...]]) == excess, "a second answer behind the first is refused")
        claim(outcome(random.pieces(of: twice, upTo: 50)) == excess, "a second answer in pieces is refused")
    }

    private func outcome(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
        var parser = AnswerParser(limits: limits)
        return outcome(pieces, using: &parser)
    }

    private func outcome(_ pieces: [ArraySlice<UInt8>], using parser: inout AnswerParser) -> Outcome {
        parser.reset(answersHead: answersHead)
        do throws(AnswerFault) {
            for piece in pieces {
                _ = try parser.feed(piece.span)
                claim(parser.answer.bytes.count <= limits.memoryByteCount, "the memory is bounded")
            }
            if closes { try parser.connectionClosed() }
        } catch {
            return .fault(error)
        }
        return parser.isComplete ? .answer(Content(parser.answer)) : .incomplete
    }

    private func claim(_ holds: Bool, _ text: String) {
        if holds { return }
        fatalError(
            "it does not hold that \(text): HEAD \(answersHead), closes \(closes), limits \(limits)\n"
                + String(decoding: bytes, as: UTF8.self).debugDescription)
    }
}

/// What came of an input.
enum Outcome: Equatable {
    case answer(Content)
    case fault(AnswerFault)
    case incomplete
}

/// All that an answer says.
struct Content: Equatable {
    struct Field: Equatable {
        var name: [UInt8]
        var value: [UInt8]
    }

    var status = 0
    var fields: [Field] = []
    var body: [UInt8] = []
    var keepsAlive = false

    init() {}

    init(_ answer: Answer) {
        status = answer.status
        fields = answer.fields.map { Field(name: Array(answer.bytes[$0.name]), value: Array(answer.bytes[$0.value])) }
        body = Array(answer.bytes[answer.bodyRange])
        keepsAlive = answer.keepsAlive
    }
}

/// Places to cut at: random, but always the same for the same input (xorshift64).
struct Cuts {
    private var state: UInt64

    init(seed: [UInt8]) {
        state = seed.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
    }

    mutating func pieces(of bytes: [UInt8], upTo longest: Int) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        while start < bytes.count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            let end = min(bytes.count, start + 1 + Int(state % UInt64(longest)))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }
}
