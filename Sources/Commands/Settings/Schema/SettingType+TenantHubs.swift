/// The hub of one tenant.
public struct TenantHubSetting: Sendable, Equatable {
    /// The tenant's name, as requests have it.
    public let tenant: String
    /// The name of a hub, or of a spread.
    public let hub: String
}

extension SettingType where Value == [TenantHubSetting] {
    /// Hubs by tenant: a file's mapping, or `name=hub` separated by commas.
    static var tenantHubs: SettingType {
        byTenant("name=hub pairs separated by commas, each name once, at most 10000", atMost: 10_000) {
            (pair) throws(SettingFault) in
            guard !pair.value.isEmpty else { throw SettingFault("names no hub for \(SettingText.shown(pair.name))") }
            return TenantHubSetting(tenant: pair.name, hub: pair.value)
        }
    }
}

extension SettingType {
    /// Elements by tenant: a file's mapping, or pairs separated by commas, each with a name of its own.
    static func byTenant<Element>(
        _ allowed: String, atMost limit: Int, make: @escaping @Sendable (SettingPair) throws(SettingFault) -> Element
    ) -> SettingType where Value == [Element] {
        SettingType(allowed: allowed, shape: .map) { (input) throws(SettingFault) -> [Element] in
            var names: Set<String> = []
            var elements: [Element] = []
            for pair in try SettingType<[KafkaProperty]>.pairs(of: input) {
                guard pair.name.wholeMatch(of: #/[a-z0-9][a-z0-9._-]{0,62}/#) != nil else {
                    throw SettingFault("contains a name that no tenant has")
                }
                guard names.insert(pair.name).inserted else { throw SettingFault("names \(SettingText.shown(pair.name)) twice") }
                elements.append(try make(pair))
            }
            guard elements.count <= limit else { throw SettingFault("names too many") }
            return elements
        }
    }
}
