/// The environment variables that are pushfan's.
enum SettingVariables {
    /// Names the settings file.
    static let file = prefix + "CONFIG"

    static let prefix = "PUSHFAN_"

    /// Read by a build, after which they may be left in the environment.
    private static let ofBuild = ["COMMIT", "DATE"].map { prefix + $0 }

    /// Every variable that means something.
    static func known(_ definitions: [SettingDefinition]) -> [String] {
        [file, SettingsSchema.handleKeyVariable]
            + definitions.flatMap { $0.isSecret ? [$0.variable, $0.variable + "_FILE"] : [$0.variable] }
    }

    /// True if a variable is meant for pushfan, so that an unknown one is a mistake.
    ///
    /// Not meant for it are the variables of the project's own tests (`PUSHFAN_TEST_…`) and builds. Nor are those that Kubernetes sets in each pod
    /// for a service whose name begins with "pushfan" (kubernetes.io, "Accessing the Service", `{SVCNAME}_SERVICE_HOST` and
    /// Docker-links variables).
    static func isOurs(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), !name.hasPrefix(prefix + "TEST_"), !ofBuild.contains(name) else { return false }
        let ofService = #/PUSHFAN_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)/#
        return name.wholeMatch(of: ofService) == nil
    }

    /// The known variable that a mistyped one most likely means.
    static func nearest(to name: String, among known: [String]) -> String? {
        let tails = known.map { String($0.dropFirst(prefix.count)) }
        return SettingText.nearest(to: String(name.dropFirst(prefix.count)), among: tails, separator: "_").map { prefix + $0 }
    }
}
