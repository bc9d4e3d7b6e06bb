import Basics
import Replay
import ResultQuery
import Results

/// The place from which a list goes on: behind the last row of a page, for the same filter, whose relative times count from the first page.
///
/// Callers hand it back as they got it, and need not understand it.
struct ListCursor: Sendable, Equatable {
    /// The longest text: the name of a topic and of a zone, and some numbers.
    private static let maximumByteCount = 640
    /// The moments of publication that a place may have, in milliseconds since 1970. There is one behind each, and one before.
    private static let moments: ClosedRange<Int64> = 0 ... .max - 1

    /// The moment of the first page, in milliseconds since 1970.
    let now: Int64
    package let place: SearchPage.Next
    /// The hash of the filter as it was written, and of the tenant.
    let filter: UInt64
    /// The name of the zone in which its times are read.
    let zone: String

    /// The text for callers. A topic's name has dots, and stands last.
    var text: String {
        let end =
            switch place {
            case .results(let place): "r.\(place.time).\(place.partition).\(place.offset)"
            case .requests(let place):
                "p.\(place.time)" + (place.place.map { ".\($0.partition).\($0.offset).\($0.topic)" } ?? "")
            }
        let parts = "2.\(now).\(String(filter, radix: 16)).\(zone).\(end)"
        return String(decoding: Base64.encode(Array(parts.utf8)), as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The hash of a filter's text and the caller's tenant.
    static func hash(_ text: String, tenant: String?) -> UInt64 {
        FNV1a.hash(of: Array("\(tenant ?? "")\n\(text)".utf8))
    }

    init(now: Int64, place: SearchPage.Next, filter: UInt64, zone: String) {
        (self.now, self.place, self.filter, self.zone) = (now, place, filter, zone)
    }

    init(now: Int64, place: ResultCursor, filter: UInt64) {
        self.init(now: now, place: .results(place), filter: filter, zone: LocalZone.utc.name)
    }

    /// Reads a cursor of this version, or of the one before, which knew results alone. Anything else is nil.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let bytes = Base64.decode(Array(padded.utf8)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: ".", maxSplits: 8, omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 6, let now = Int64(parts[1]) else { return nil }
        if parts[0] == "1" {
            guard parts.count == 6, let filter = UInt64(parts[5], radix: 16), let place = Self.result(Array(parts[2..<5]))
            else { return nil }
            self.init(now: now, place: place, filter: filter)
            return
        }
        guard parts[0] == "2", let filter = UInt64(parts[2], radix: 16), let place = Self.place(parts[4], of: Array(parts[5...]))
        else { return nil }
        self.init(now: now, place: place, filter: filter, zone: parts[3])
    }

    private static func place(_ kind: String, of parts: [String]) -> SearchPage.Next? {
        if kind == "r" { return result(parts).map { .results($0) } }
        guard kind == "p", let time = Int64(parts[0]), moments.contains(time) else { return nil }
        guard parts.count > 1 else { return .requests(SearchCursor(time: time, place: nil)) }
        guard parts.count == 4, RecordPlace.isTopic(parts[3]), let partition = Int32(parts[1]),
            let offset = Int64(parts[2]),
            partition >= 0, offset >= 0
        else { return nil }
        let place = RecordPlace(topic: parts[3], partition: partition, offset: offset)
        return .requests(SearchCursor(time: time, place: place))
    }

    /// Time, partition and offset of a result.
    private static func result(_ parts: [String]) -> ResultCursor? {
        guard parts.count == 3, let time = Int64(parts[0]), let partition = Int32(parts[1]), let offset = Int64(parts[2])
        else { return nil }
        return ResultCursor(time: time, partition: partition, offset: offset)
    }
}
