public import Basics

extension ByteWriter {
    /// Appends `moment` as RFC 3339 in UTC with milliseconds: `2026-11-20T12:00:00.120Z`.
    ///
    /// What lies outside the years 0000–9999 is written as the nearest moment inside them.
    public mutating func append(_ moment: Timestamp) {
        var text = TimestampText()
        append(moment, by: &text)
    }

    /// Appends `moment` by way of `text`, which showed another one that was near.
    public mutating func append(_ moment: Timestamp, by text: inout TimestampText) {
        text.show(milliseconds: moment.milliseconds)
        append(text.characters.span)
    }

    /// Appends `moment` as RFC 3339 in UTC without any fraction: `2026-11-20T12:00:00Z`.
    public mutating func append(wholeSecondsOf moment: Timestamp) {
        var text = TimestampText()
        append(wholeSecondsOf: moment, by: &text)
    }

    /// Appends `moment` without any fraction by way of `text`, which showed another one that was near.
    public mutating func append(wholeSecondsOf moment: Timestamp, by text: inout TimestampText) {
        text.show(milliseconds: moment.milliseconds)
        append(text.characters.span.extracting(first: 19))
        append("Z")
    }
}

extension Timestamp {
    /// RFC 3339 in UTC with milliseconds.
    package var text: String {
        var writer = ByteWriter()
        writer.append(self)
        return writer.text
    }
}
