import Console

/// The demand that flags describe.
struct SizeArguments {
    /// Numbers with a unit, as one flag takes them.
    private struct Quantity {
        let units: KeyValuePairs<String, Double>
        let range: ClosedRange<Double>
        /// An example and the limits, for a person.
        let expected: String
    }

    private static let rate = Quantity(
        units: ["": 1, "/s": 1, "/m": 1 / 60, "/h": 1 / 3600, "/d": 1 / 86_400], range: 1e-6...1e7,
        expected: "a rate such as 2000/s, 50000/h or 1e6/d, of 10,000,000 a second at most")
    private static let latency = Quantity(
        units: ["ms": 1, "s": 1000, "m": 60_000], range: 0.1...600_000, expected: "a time such as 60ms, from 0.1ms to 10m")
    private static let retention = Quantity(
        units: ["h": 1 / 24, "d": 1], range: 1 / 24...3650, expected: "a time such as 12h or 7d, from 1h to 3650d")
    private static let users = Quantity(units: ["": 1], range: 0...1e9, expected: "a number such as 20000 or 1e6, from 0 to 1e9")
    private static let bytes = Quantity(
        units: ["": 1, "B": 1, "KiB": 1024, "MiB": 1_048_576], range: 1...1_048_576,
        expected: "a size such as 700 or 1KiB, from 1 to 1MiB")
    private static let retries = Quantity(units: ["%": 0.01], range: 0...1, expected: "a share such as 5%, from 0% to 100%")
    private static let utilisation = Quantity(
        units: ["%": 0.01], range: 0.01...1, expected: "a share such as 60%, from 1% to 100%")

    private let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// Reads the demand. A usage failure names the flag and the values that it takes.
    func demand() throws(CommandFailure) -> Demand {
        guard let requests = try value("requests", as: Self.rate) else {
            throw .usage("--requests is missing", hint: "`pushfan size --requests 2000/s` sizes for 2,000 requests a second")
        }
        var demand = Demand(
            requestsPerSecond: requests, peakPerSecond: try value("peak", as: Self.rate) ?? requests * Demand.usualPeak)
        guard demand.peakPerSecond >= requests else { throw .usage("--peak: the peak is at least the rate of --requests") }
        demand.hubMilliseconds = try value("hub-latency", as: Self.latency) ?? demand.hubMilliseconds
        demand.users = try value("users", as: Self.users) ?? demand.users
        demand.largeRequestsPerDay = try value("large-requests", as: Self.rate).map { $0 * 86_400 } ?? demand.largeRequestsPerDay
        demand.platforms = try arguments.integer("platforms", in: 1...8) ?? demand.platforms
        demand.retries = try value("retries", as: Self.retries) ?? demand.retries
        demand.payloadBytes = try value("payload", as: Self.bytes) ?? demand.payloadBytes
        demand.retentionDays = try value("retention", as: Self.retention)
        demand.replication = try arguments.integer("replication", in: 1...1000) ?? demand.replication
        demand.utilisation = try value("utilisation", as: Self.utilisation) ?? demand.utilisation
        demand.cores = try arguments.integer("cores", in: 1...64) ?? demand.cores
        return demand
    }

    private func value(_ flag: String, as quantity: Quantity) throws(CommandFailure) -> Double? {
        guard let text = arguments.value(flag) else { return nil }
        let digits = text.prefix { "0123456789.e".contains($0) }
        let unit = quantity.units.first { $0.key == text.dropFirst(digits.count) }
        guard let unit, let number = Double(digits), quantity.range.contains(number * unit.value) else {
            throw .usage("--\(flag): expected \(quantity.expected)")
        }
        return number * unit.value
    }
}
