import HTTPServing

/// The hub's own rules for the header fields of a native send. Those of push services are not among them.
enum SendHeaders {
    /// The kinds of WNS notifications, of which a send must name one ("Send WNS native notification").
    private static let wnsTypes = ["wns/toast", "wns/tile", "wns/badge", "wns/raw"]

    /// Refuses with 400 what the hub cannot pass on.
    static func check(_ headers: HTTPFields, for platform: HubPlatform) throws(RefusedCall) {
        if platform == .windows {
            let type = headers["X-WNS-Type"] ?? ""
            guard wnsTypes.contains(where: type.equalsIgnoringCase) else {
                throw .invalid(
                    "The HTTP header \"X-WNS-Type\" is missing or has an invalid value: \"\(type)\". Allowed values are "
                        + wnsTypes.joined(separator: ", "))
            }
        }
        if let expiry = headers["ServiceBusNotification-Apns-Expiry"], !isDate(expiry) {
            throw .invalid("The HTTP header \"ServiceBusNotification-Apns-Expiry\" has an invalid value: \"\(expiry)\"")
        }
    }

    /// A W3C date-time, or `MM/dd/yyyy HH:mm:ss` as SDKs of .NET and Java write it.
    private static func isDate(_ text: String) -> Bool {
        if Moment(reading: text) != nil { return true }
        let halves = text.split(separator: " ")
        let day = (halves.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, day.count == 3 else { return false }
        return Moment(reading: "\(day[2])-\(day[0])-\(day[1])T\(halves[1])") != nil
    }
}
