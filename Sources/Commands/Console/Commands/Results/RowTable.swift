import Publishing
import PushModel
import ResultQuery
import Results

/// Moments of a list as they are shown: as clocks of a zone show them, or whole.
struct RowTimes {
    /// The zone, or nil for whole moments in UTC.
    let zone: LocalZone?
    /// Milliseconds since 1970.
    let now: Int64

    /// `14:05:12`, with its day if that is not today.
    func text(_ moment: Int64) -> String {
        guard let zone else { return Timestamp(milliseconds: moment).text }
        let (day, time) = Self.local(moment, in: zone)
        return day == Self.local(now, in: zone).day ? time : "\(day) \(time)"
    }

    /// The day and the time that clocks show.
    private static func local(_ moment: Int64, in zone: LocalZone) -> (day: Substring, time: String) {
        let text = Timestamp(milliseconds: moment.addingSaturated(zone.secondsEast(at: moment) * 1000)).text
        return (text.prefix(10), String(text.dropFirst(11).prefix(8)))
    }
}

/// Requests in a table: to whom, and what became of them.
enum RowTable {
    /// The most columns of a terminal that a title takes.
    private static let titleWidth = 24

    private static let columns: [Table.Column] = [
        "PUBLISHED", .init(title: "FINISHED", spare: 3), "REQUEST", "TO", .init(title: "TITLE", spare: 4),
        .init(title: "LABELS", spare: 1), "STATE", .init(title: "ERROR", spare: 2), .init(title: "HUB", isWide: true),
        .init(title: "TENANT", isWide: true), .init(title: "SOURCE", isWide: true), .init(title: "REPLAY", isWide: true),
        .init(title: "MESSAGE", isWide: true),
    ]

    /// The table of rows. `isCut` says that a long title is cut.
    static func of(_ rows: [SearchRow], times: RowTimes, isCut: Bool) -> Table {
        var table = Table(columns)
        for row in rows { table.add(cells(row, times: times, isCut: isCut)) }
        return table
    }

    private static func cells(_ row: SearchRow, times: RowTimes, isCut: Bool) -> [String] {
        let finished = row.finishedAt.flatMap { Timestamp($0.utf8.span) }
        let title = row.facts?.title ?? "-"
        let labels = row.labels.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }.joined(separator: " ")
        return [
            times.text(row.publishedAt), finished.map { times.text($0.milliseconds) } ?? "-", row.id,
            row.facts?.audience.text ?? "-", isCut ? DisplayWidth.cut(Sanitised.line(title), to: titleWidth) : title,
            labels.isEmpty ? "-" : labels, state(row, times: times), row.result?.errorCode ?? "-", row.hub ?? "-",
            row.tenant ?? "-",
            row.facts?.source ?? row.result?.source ?? "-", row.result?.replaySafety ?? "-", row.result?.errorMessage ?? "-",
        ]
    }

    /// `sent`, or where it is: `delayed to 14:30:00`, `in_parts 214 of 300`.
    private static func state(_ row: SearchRow, times: RowTimes) -> String {
        guard let standing = row.standing, row.result == nil else { return row.state }
        if let parts = standing.parts { return "\(row.state) \(parts.ended) of \(parts.count.map(String.init) ?? "?")" }
        return row.state + (standing.due.map { " to \(times.text($0))" } ?? "")
    }
}
