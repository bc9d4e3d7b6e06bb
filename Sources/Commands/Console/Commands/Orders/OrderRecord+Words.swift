import PushModel

extension OrderRecord {
    /// `hold`, `limit 50/s`, `cancel`.
    fileprivate var kindText: String { if case .limit(let rate) = kind { "limit \(rate)/s" } else { word } }

    /// `holds tenant:acme`, `limits hub:north to 50 calls a second`, `cancels source:shop`.
    var sentence: String {
        let scope = Sanitised.line(scope.text)
        return switch kind {
        case .hold: "holds \(scope)"
        case .limit(let rate): "limits \(scope) to \(rate) \(rate == 1 ? "call" : "calls") a second"
        case .cancel: "cancels \(scope)"
        }
    }

    /// `42 s`, `4 min 10 s`, `1 h 5 min`, `6 d 23 h`.
    static func length(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }
}

extension Table {
    /// The columns of orders. A narrow terminal has no room for all.
    static var ofOrders: Table {
        Table([
            "ID", "KIND", "STATE", "SCOPE", .init(title: "BY", spare: 2), .init(title: "SINCE", spare: 1),
            .init(title: "UNTIL", spare: 3), "LEFT", "REASON",
        ])
    }

    /// Adds an order's row. One that was released has ended at that moment.
    mutating func add(_ order: OrderRecord, at now: Timestamp) {
        add(
            order.id, order.kindText, order.state(at: now), order.scope.text, order.author, order.since.text, order.end.text,
            order.stands(at: now) ? OrderRecord.length(seconds: order.secondsLeft(at: now)) : "-", order.reason)
    }
}

extension Streams {
    /// Writes orders in the requested form.
    func out(_ orders: [OrderRecord], as format: OutputFormat, at now: Timestamp) throws(CommandFailure) {
        var table = Table.ofOrders
        for order in orders { table.add(order, at: now) }
        try out(format, table, orders.map { $0.object(at: now).bytes })
    }
}
