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
        let weight = SettingType<Int>.integer(1...1000)
        return byTenant(
            "name=weight pairs separated by commas, each name once, at most 1000, each weight from 1 to 1000", atMost: 1000
        ) { (pair) throws(SettingFault) in
            TenantWeightSetting(tenant: pair.name, weight: try weight.read(.text(pair.value)))
        }
    }
}
