import Basics
package import HTTPServing

/// One authorised call of the hub, with the facts that every operation needs.
package struct HubCall: Sendable {
    package let request: HTTPServerRequest
    /// The call's number in the records.
    package let id: Int
    package let moment: Moment
    package let apiVersion: APIVersion
    package let tier: HubTier
    /// `https://host/hub`, for the links in answers.
    package let baseURL: String

    /// True if the query has a flag, with any value or none.
    package func hasFlag(_ name: String) -> Bool { request.queryValue(name) != nil }

    /// A header of the hub's own, without its prefix.
    package func notificationHeader(_ name: String) -> String? { request.headers["ServiceBusNotification-" + name] }

    /// An absolute link to `path` in the hub, with the query of the request behind it, as the service does.
    package func link(_ path: String) -> String {
        let query = request.rawQuery
        return query.isEmpty ? "\(baseURL)/\(path)" : "\(baseURL)/\(path)?\(query)"
    }

    /// An error with 403 for operations that the tier does not include.
    package func refusedByTier() -> HubReply {
        .error(403, detail: "The requested operation is not available for the \(tier.rawValue.capitalized) tier of this hub")
    }
}

extension String {
    /// The first letter in upper case (ASCII).
    package var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

/// The api-version of a call: `YYYY-MM`.
package struct APIVersion: Comparable, Sendable {
    /// The first version in which throttling is answered 429 instead of 403. The exact month is not documented.
    package static let answers429 = APIVersion(unchecked: "2017-04")

    /// The first version whose telemetry links to the refused devices. The send must have it too.
    package static let namesErrorDetails = APIVersion(unchecked: "2016-07")

    package let text: String

    private init(unchecked text: String) {
        self.text = text
    }

    /// Reads a version of four digits, a hyphen and a month.
    package init?(_ text: String?) {
        guard let text, text.utf8.count == 7 else { return nil }
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            guard index == 4 ? byte == UInt8(ascii: "-") : byte.isDigit else { return nil }
        }
        guard let month = Int(text.suffix(2)), (1...12).contains(month) else { return nil }
        self.text = text
    }

    package static func < (left: APIVersion, right: APIVersion) -> Bool { left.text < right.text }
}
