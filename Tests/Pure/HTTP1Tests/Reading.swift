import HTTP1

/// What a parser made of some bytes, in a form that can be compared.
enum Reading: Equatable, CustomStringConvertible {
    case answer(status: Int, fields: [String], body: String, keepsAlive: Bool)
    case fault(AnswerFault)
    case incomplete

    var description: String {
        switch self {
        case .answer(let status, let fields, let body, let keepsAlive): "\(status) \(fields) \(body) keeps alive: \(keepsAlive)"
        case .fault(let fault): "fault \(fault.rawValue)"
        case .incomplete: "incomplete"
        }
    }

    /// Feeds pieces one after the other, then the connection's end if it is to close.
    init(_ pieces: [ArraySlice<UInt8>], answersHead: Bool = false, closes: Bool = false, limits: AnswerLimits = AnswerLimits()) {
        var parser = AnswerParser(limits: limits)
        self.init(pieces, answersHead: answersHead, closes: closes, using: &parser)
    }

    init(_ pieces: [ArraySlice<UInt8>], answersHead: Bool = false, closes: Bool = false, using parser: inout AnswerParser) {
        parser.reset(answersHead: answersHead)
        do throws(AnswerFault) {
            for piece in pieces { _ = try parser.feed(Array(piece).span) }
            if closes { try parser.connectionClosed() }
        } catch {
            self = .fault(error)
            return
        }
        guard parser.isComplete else {
            self = .incomplete
            return
        }
        let answer = parser.answer
        self = .answer(
            status: answer.status, fields: answer.fields.map { "\(answer.string($0.name))=\(answer.string($0.value))" },
            body: answer.string(answer.bodyRange), keepsAlive: answer.keepsAlive)
    }

    /// The same bytes whole, dripped, and cut at each place.
    static func everyCut(of text: String, answersHead: Bool = false, closes: Bool = false, limits: AnswerLimits = AnswerLimits())
        -> [Reading]
    {
        let bytes = Array(text.utf8)
        var readings = [Reading([bytes[...]], answersHead: answersHead, closes: closes, limits: limits)]
        readings.append(Reading(bytes.indices.map { bytes[$0...$0] }, answersHead: answersHead, closes: closes, limits: limits))
        for cut in bytes.indices {
            readings.append(Reading([bytes[..<cut], bytes[cut...]], answersHead: answersHead, closes: closes, limits: limits))
        }
        return readings
    }
}
