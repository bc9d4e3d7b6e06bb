import Basics

/// A rule about one header of a push service.
struct HeaderRule: Sendable {
    /// The name in lower case.
    let name: StaticString
    /// The form of the value, or nil where the header must not stand at all.
    let form: TextForm?
    let source: RuleSource

    init(_ name: StaticString, as form: TextForm?, from source: RuleSource) {
        self.name = name
        self.form = form
        self.source = source
    }

    /// True if this is a header of that name whose value has another form.
    func isBroken(by header: Span<UInt8>, value: Span<UInt8>) -> Bool {
        header.isHeader(name) && !(form?.isMet(by: value.withoutOuterBlanks) ?? false)
    }

    /// The words behind the name.
    var words: String { form.map { "must " + $0.words } ?? "must not stand there; the push service refuses it" }

    /// The sentence for a value of another form.
    var sentence: String { "\(name) \(words)." }
}

extension Span<UInt8> {
    /// The text without the blanks and tabs around it, which HTTP does not count (RFC 9110, section 5.5).
    var withoutOuterBlanks: Span<UInt8> {
        @_lifetime(copy self) get {
            var range = 0..<count
            while let first = range.first, self[first] == 0x20 || self[first] == 0x09 { range.removeFirst() }
            while let last = range.last, self[last] == 0x20 || self[last] == 0x09 { range.removeLast() }
            return extracting(range)
        }
    }

    /// True if this is the header `name`, which is in lower case, also in the spelling `X-Apns-…` that some SDKs use.
    func isHeader(_ name: StaticString) -> Bool {
        if equalsIgnoringCase(name) { return true }
        return holdsIgnoringCase("x-apns-") && extracting(2...).equalsIgnoringCase(name)
    }
}
