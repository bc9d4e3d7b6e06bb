import Basics

/// The shares that sources and tenants have in the requests that wait, as far as these were read.
package struct WaitingShares: Sendable, Equatable {
    /// The requests of one source, or of one tenant.
    package struct Share: Sendable, Equatable {
        /// Its name, as the publisher wrote it.
        package let name: String
        /// Its requests.
        package let requests: Int64
    }

    /// The sources, or the tenants, with the most requests.
    package struct Ranking: Sendable, Equatable {
        /// The first five, the largest first.
        package let first: [Share]
        /// The requests of all others that have a name.
        package let others: Int64
        /// The requests that name none.
        package let unnamed: Int64
    }

    /// The requests that were read.
    package private(set) var requests: Int64 = 0
    private var sources: [String: Int64] = [:]
    private var tenants: [String: Int64] = [:]

    /// No request yet.
    package init() {}

    /// Adds a request with the source and the tenant that it names.
    package mutating func add(source: String?, tenant: String?) {
        requests += 1
        if let source { sources[source, default: 0] += 1 }
        if let tenant { tenants[tenant, default: 0] += 1 }
    }

    /// Adds the requests of others.
    package mutating func add(_ others: WaitingShares) {
        requests += others.requests
        sources.merge(others.sources, uniquingKeysWith: +)
        tenants.merge(others.tenants, uniquingKeysWith: +)
    }

    /// The ranking of sources.
    package var bySource: Ranking { Ranking(sources, of: requests) }

    /// The ranking of tenants.
    package var byTenant: Ranking { Ranking(tenants, of: requests) }
}

extension WaitingShares.Ranking {
    /// The number of names that stand by themselves.
    private static let firstCount = 5
    /// The most characters of a name in a line.
    private static let nameLength = 40

    fileprivate init(_ counts: [String: Int64], of all: Int64) {
        let ranked = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        first = ranked.prefix(Self.firstCount).map { .init(name: $0.key, requests: $0.value) }
        others = ranked.dropFirst(Self.firstCount).reduce(0) { $0 + $1.value }
        unnamed = all - counts.values.reduce(0, +)
    }

    /// `shop 2100, billing 180, others 12, none 4`, or nil if no request names one. No name can be taken for other words of the line.
    package var text: String? {
        guard !first.isEmpty else { return nil }
        var parts = first.map { "\(Self.word($0.name)) \($0.requests)" }
        if others > 0 { parts.append("others \(others)") }
        if unnamed > 0 { parts.append("none \(unnamed)") }
        return parts.joined(separator: ", ")
    }

    private static func word(_ name: String) -> String {
        let scalars = name.unicodeScalars
        let word = ShellWord.of(String(scalars.prefix(nameLength)))
        return scalars.count > nameLength ? word + "…" : word
    }
}
