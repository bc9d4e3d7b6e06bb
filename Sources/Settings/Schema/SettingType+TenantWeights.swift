/// The part of one tenant in a lane.
public struct TenantWeightSetting: Sendable, Equatable {
    /// The tenant's name, as requests have it.
    public let tenant: String
    /// 1 to 1000.
    public let weight: Int
}

extension SettingType where Value == [TenantWeightSetting] {
    /// Weights by tenant: a file's mapping, or `name=weight` separated by commas.
    static var tenantWeights: SettingType {
        SettingType(
            allowed: "name=weight pairs separated by commas, each name once, at most 1000, each weight from 1 to 1000",
            shape: .map
        ) { (input) throws(SettingFault) -> [TenantWeightSetting] in
            let weight = SettingType<Int>.integer(1...1000)
            var names: Set<String> = []
            var weights: [TenantWeightSetting] = []
            for pair in try SettingType<[KafkaProperty]>.pairs(of: input) {
                guard pair.name.wholeMatch(of: #/[a-z0-9][a-z0-9._-]{0,62}/#) != nil else {
                    throw SettingFault("contains a name that no tenant has")
                }
                guard names.insert(pair.name).inserted else { throw SettingFault("names \(SettingText.shown(pair.name)) twice") }
                weights.append(TenantWeightSetting(tenant: pair.name, weight: try weight.read(.text(pair.value))))
            }
            guard weights.count <= 1000 else { throw SettingFault("names too many") }
            return weights
        }
    }
}
