/// Where a request can be asked about.
enum RequestPath {
    /// The path of a request (`Location`).
    ///
    /// - Parameters:
    ///   - id: The request's id: letters, digits and `. _ : -`.
    ///   - record: Where its record is, as far as that is known; so a look-up can tell that it is there.
    /// - Returns: `/v1/requests/ID`, with `?at=TOPIC/PARTITION/OFFSET` where the place is known.
    static func of(_ id: String, at record: SendOutcome.Record = .unreported) -> String {
        guard case .written(let topic, let partition, let offset?) = record else { return "/v1/requests/\(id)" }
        return "/v1/requests/\(id)?at=\(topic)/\(partition)/\(offset)"
    }
}
