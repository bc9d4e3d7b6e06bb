import GatewayAPI
import PushModel

/// Orders as answers show them at a moment, the newest first.
struct OrderList: Sendable {
    /// The most orders of an event of the fleet.
    static let shortLimit = 20
    /// The most bytes of orders in an event of the fleet, which has 64 KiB in all.
    private static let shortRoom = 8192

    let orders: [OrderRecord]
    let now: Timestamp

    /// Adds them as a list, and the number of those that have no room. In short, few of them.
    func add(_ name: String, to json: inout JSONObject, isShort: Bool = false) {
        var (room, shown) = (isShort ? Self.shortRoom : Int.max, [[UInt8]]())
        for order in orders.prefix(isShort ? Self.shortLimit : APILimit.orderCount) {
            let piece = order.object(at: now).bytes
            guard piece.count <= room else { break }
            room -= piece.count
            shown.append(piece)
        }
        json.add(name, array: shown)
        if shown.count < orders.count { json.add("\(name)_omitted", value: orders.count - shown.count) }
    }
}
