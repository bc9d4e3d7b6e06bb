/// The names of things that the settings file names: hubs, and spreads over hubs.
///
/// They are known after the file was read. A variable can set a key of a section that the file names, but not add a section.
struct NamedSettings: Sendable {
    /// The most hubs that a file can name.
    static let maximumHubs = 256

    /// The hubs, in the file's order.
    private(set) var hubs: [String] = []
    /// The spreads, in the file's order.
    private(set) var spreads: [String] = []

    static let sections = ["hubs", "spreads"]

    /// True if a key belongs to a name in one of them.
    static func isKey(_ name: String) -> Bool { sections.contains { name.hasPrefix($0 + ".") } }

    /// Takes in a name of one of `sections`, and returns its fault if there is one.
    mutating func add(_ name: String, to section: String) -> String? {
        guard name.wholeMatch(of: #/[a-z0-9][a-z0-9._-]{0,62}/#) != nil else {
            return "is not a name that requests can have: 1 to 63 small letters, digits, '.', '_' and '-'"
        }
        guard section == "hubs" else {
            spreads.append(name)
            return nil
        }
        guard hubs.count < Self.maximumHubs else { return "is one hub more than \(Self.maximumHubs)" }
        let variable = SettingDefinition.variable(of: name)
        if let other = hubs.first(where: { SettingDefinition.variable(of: $0) == variable }) {
            return "has the same variables as \(other)"
        }
        hubs.append(name)
        return nil
    }
}
