/// The few colours that a word can have on a terminal.
enum Colour: String, Sendable {
    case green = "32"
    case yellow = "33"
    case red = "31"
    case bold = "1"

    /// The word in this colour (ECMA-48, SGR), or as it is where colours are not wanted.
    func paint(_ text: String, _ traits: Streams.Traits) -> String {
        traits.usesColour && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }

    /// The colour of a result's state.
    static func of(state: String) -> Colour? {
        switch state {
        case "sent", "delivered", "ok", "created": .green
        case "partial", "reached_some", "retrying", "scheduled", "warning": .yellow
        case "failed", "rejected", "expired", "devices_refused", "no_target", "missing": .red
        default: nil
        }
    }
}

extension Streams {
    /// Writes a line of data in bold letters, if the terminal has colours, else as it is.
    ///
    /// - Parameter text: The line without its end.
    /// - Throws: As `out(_:)` does.
    public func outBold(_ text: String) throws(CommandFailure) { try out(Colour.bold.paint(text, traits)) }
}
