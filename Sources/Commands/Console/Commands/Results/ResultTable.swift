import JobSupport
import Publishing

enum ResultTable {
    private static let columns: [Table.Column] = [
        "AT", "REQUEST", "STATE", "OUTCOME", "ERROR", "HUB", .init(title: "PLATFORMS", isWide: true),
        .number("ATTEMPTS", isWide: true), .init(title: "REPLAY", isWide: true), .number("TOOK MS", isWide: true),
        .init(title: "WORKER", isWide: true), .init(title: "KIND", isWide: true), .init(title: "MESSAGE", isWide: true),
    ]

    static func of(_ records: [ResultRecord]) -> Table {
        var table = Table(columns)
        for record in records { table.add(cells(record)) }
        return table
    }

    private static func cells(_ record: ResultRecord) -> [String] {
        [
            record.at, record.requestID, record.state, record.outcome, record.errorCode ?? "-",
            record.hub.isEmpty ? "-" : record.hub, record.platforms.isEmpty ? "-" : record.platforms.joined(separator: ","),
            String(record.attemptCount), record.replaySafety ?? "-", record.totalMilliseconds.map(String.init) ?? "-",
            record.worker ?? "-", record.kind, record.errorMessage ?? "-",
        ]
    }

    /// One result on a line of its own, for lists whose other lines are not known yet.
    static func line(_ record: ResultRecord, isWide: Bool, _ traits: Streams.Traits) -> String {
        let state = Sanitised.line(record.state).padding(to: 10)
        var line = "\(Sanitised.line(record.at))  \(Colour.of(state: record.state)?.paint(state, traits) ?? state)"
        line += Sanitised.line(record.requestID)
        if isWide {
            let took = record.totalMilliseconds.map { TimeText.length(milliseconds: $0) }
            let details: [String?] = [record.hub, record.platforms.joined(separator: ","), record.worker, took]
            line += details.compactMap(\.self).filter { !$0.isEmpty }.map { "  " + Sanitised.line($0) }.joined()
        }
        return line + [record.errorCode, record.errorMessage].compactMap(\.self).map { "  " + Sanitised.line($0) }.joined()
    }
}
