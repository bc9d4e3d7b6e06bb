import PushModel
import ResultQuery
import Results

/// The last line of a list: how far it was searched, and what it leaves out.
struct SearchEnding {
    let page: SearchPage
    let filter: ResultFilter
    /// The zone in which times are shown.
    let zone: LocalZone
    /// Milliseconds since 1970.
    let now: Int64

    /// `Searched back to 13:40:00 (UTC+1, Europe/Berlin); 12 shown; 3 sends by tag or to all may have reached alice: pushfan …`.
    var text: String {
        let times = RowTimes(zone: zone, now: now)
        let since = page.searched.since?.milliseconds ?? filter.since
        let reach = since.map { "Searched back to \(times.text($0))" } ?? "Searched all that is kept"
        let shown = "\(page.rows.count) shown" + (page.next == nil ? "" : ", and there are older ones: -n shows more")
        return ["\(reach) (\(Self.name(of: zone, at: now)))", shown, possible].compactMap(\.self).joined(separator: "; ")
    }

    private var possible: String? {
        let count = page.possible.count
        guard count > 0 else { return nil }
        let sends =
            (page.hasMorePossible ? "\(count) or more" : "\(count)") + (count == 1 && !page.hasMorePossible ? " send" : " sends")
        let whom = filter.givenNames.map { Sanitised.line($0) }.joined(separator: ", ")
        let command = "pushfan results list \(Sanitised.word(filter.ofBroadSends.description))"
        return "\(sends) by tag or to all may have reached \(whom.isEmpty ? "them" : whom): \(command)"
    }

    /// `UTC`, or `UTC+1, Europe/Berlin`.
    static func name(of zone: LocalZone, at moment: Int64) -> String {
        let seconds = zone.secondsEast(at: moment)
        let (hours, minutes) = (abs(seconds) / 3600, abs(seconds) % 3600 / 60)
        let distance =
            seconds == 0
            ? "UTC" : "UTC\(seconds < 0 ? "-" : "+")\(hours)" + (minutes == 0 ? "" : ":\(minutes < 10 ? "0" : "")\(minutes)")
        let isNamed = zone.name != "UTC" && zone.name.first?.isLetter == true
        return isNamed ? "\(distance), \(zone.name)" : distance
    }
}
