package import HTTPServing

/// The members of a query of `/api`, by names in any case; others than those that are asked for are passed over.
package struct QueryItems {
    private let items: [HTTPServerRequest.QueryItem]

    /// Takes the items in which `+` is still a plus (`percentDecodedQuery`).
    package init(_ items: [HTTPServerRequest.QueryItem]) {
        self.items = items
    }

    /// The value of a member; nil when it is missing or empty.
    ///
    /// - Throws: 400 for a member that stands twice: the tutorials' apps write what their users type into the query as it is, and a
    ///   second value would be such a user's.
    package func value(_ name: String) throws(APIProblem) -> String? {
        let found = items.filter { $0.name.equalsIgnoringCase(name) }
        guard found.count <= 1 else { throw .invalid("The query has \(name) more than once.") }
        guard let value = found.first?.value, !value.isEmpty else { return nil }
        return value
    }
}
