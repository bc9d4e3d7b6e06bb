/// The coding of a body before it was sent (RFC 9110, 8.4).
enum BodyCoding: Equatable {
    case none
    /// It was packed with gzip, once.
    case gzip
    /// Something else, or more.
    case other

    /// Reads the fields of a request.
    init(_ fields: HTTPFields) {
        let codings = fields.members("Content-Encoding").filter { !$0.equalsIgnoringCase("identity") }
        switch codings.count {
        case 0: self = .none
        case 1 where codings[0].equalsIgnoringCase("gzip") || codings[0].equalsIgnoringCase("x-gzip"): self = .gzip
        default: self = .other
        }
    }
}
