import Basics

/// A `$filter` that finds registrations by handle, in the spelling of every client.
package struct RegistrationFilter: Sendable {
    private let terms: [(element: String, values: [String])]

    /// Reads a filter: `Name eq 'value'`, joined by `and`.
    ///
    /// A missing first quote is forgiven, because the JavaScript client omits it for Baidu. A value that is percent-encoded once
    /// more is accepted both ways, because the same client encodes channel URIs twice.
    ///
    /// - Returns: `nil` for any other filter.
    init?(_ text: String) {
        var terms: [(String, [String])] = []
        var rest = text.trimmingBlanks[...]
        while !rest.isEmpty {
            guard let (element, value, behind) = Self.term(rest) else { return nil }
            terms.append((element, [value, PercentEncoding.decoded(value)]))
            rest = behind.trimmingBlanks[...]
            if rest.isEmpty { break }
            guard rest.lowercased().hasPrefix("and ") else { return nil }
            rest = rest.dropFirst(4)
        }
        guard !terms.isEmpty else { return nil }
        self.terms = terms
    }

    /// The devices that can satisfy the filter: every handle in it, on every platform.
    package var devices: [DeviceKey] {
        var keys: [DeviceKey] = []
        for value in Set(terms.flatMap(\.values)) {
            for platform in HubPlatform.allCases {
                keys.append(DeviceKey(platform: platform, handle: Registration.normalized(value, on: platform)))
            }
        }
        return keys
    }

    /// True if a registration satisfies every term. `ChannelUri` matches the handle of any platform.
    package func matches(_ registration: Registration) -> Bool {
        terms.allSatisfy { term in
            term.values.contains { value in
                let platform = registration.platform
                let isHandle = term.element == "channeluri" || term.element == platform.handleElement.lowercased()
                if isHandle {
                    return DeviceKey(platform: platform, handle: Registration.normalized(value, on: platform))
                        == registration.deviceKey
                }
                return registration.extras.contains { $0.key.lowercased() == term.element && $0.value == value }
            }
        }
    }

    private static func term(_ text: Substring) -> (element: String, value: String, rest: Substring)? {
        let name = text.prefix { $0.isLetter || $0.isNumber }
        let known = HubPlatform.allCases.flatMap { [$0.handleElement] + $0.handleExtras }.map { $0.lowercased() }
        var rest = text.dropFirst(name.count).trimmingBlanks[...]
        guard known.contains(name.lowercased()), rest.lowercased().hasPrefix("eq ") else { return nil }
        rest = rest.dropFirst(3).trimmingBlanks[...]
        if rest.first == "'" { rest = rest.dropFirst() }
        var value = ""
        while let quote = rest.firstIndex(of: "'") {
            value += rest[..<quote]
            rest = rest[rest.index(after: quote)...]
            guard rest.first == "'" else { return (name.lowercased(), value, rest) }
            value += "'"
            rest = rest.dropFirst()
        }
        return nil
    }
}
