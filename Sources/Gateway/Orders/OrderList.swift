import Jobs
import PushModel

/// Orders as answers show them at a moment, the newest first.
struct OrderList: Sendable {
    /// The most orders of an answer.
    static let limit = 1000
    /// The most orders of an event of the fleet.
    static let shortLimit = 20
    /// The most bytes of orders in an event of the fleet, which has 64 KiB in all.
    private static let shortRoom = 8192

    let orders: [OrderRecord]
    let now: Timestamp

    /// An order as JSON: its record, the word of its state, its scope as text, and the seconds until its end.
    static func json(_ order: OrderRecord, at now: Timestamp) -> [UInt8] {
        var record = ByteWriter()
        order.append(to: &record)
        let stands = order.stands(at: now)
        var json = JSONObject(continuing: record.bytes)
        json.add([
            "state": order.release != nil ? "released" : stands ? "standing" : "ended", "text": order.scope.text,
            "seconds_left": stands ? Int(clamping: (order.end.milliseconds(since: now) + 999) / 1000) : 0,
        ])
        return json.bytes
    }

    /// Adds them as a list, and the number of those that have no room. In short, few of them.
    func add(_ name: String, to json: inout JSONObject, isShort: Bool = false) {
        var (room, shown) = (isShort ? Self.shortRoom : Int.max, [[UInt8]]())
        for order in orders.prefix(isShort ? Self.shortLimit : Self.limit) {
            let piece = Self.json(order, at: now)
            guard piece.count <= room else { break }
            room -= piece.count
            shown.append(piece)
        }
        json.add(name, array: shown)
        if shown.count < orders.count { json.add("\(name)_omitted", value: orders.count - shown.count) }
    }
}

extension ScopeCounts {
    /// As JSON.
    var json: [UInt8] {
        JSONObject([
            "waiting": waiting, "running": running, "delayed": delayed, "sent": sent, "other": other, "complete": isComplete,
        ]).bytes
    }
}
