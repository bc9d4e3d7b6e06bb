import Settings
import TestSupport
import Testing

@Suite struct SettingsPageTests {
    /// A marker names the sections whose keys its table has; of two that fit a key, the longer one has it.
    @Test func pageConfigurationHasTheSettingsOfTheSchema() throws {
        let page = try GeneratedPage("Configuration")
        let sections = page.parts(of: "settings").flatMap(Self.words)
        func home(_ name: String) -> String? {
            sections.filter { name == $0 || name.hasPrefix($0 + ".") }.max { $0.count < $1.count }
        }
        let homeless = SettingsSchema.all.filter { home($0.name) == nil }.map(\.name)
        #expect(homeless.isEmpty)
        let difference = try page.difference("settings") { part in
            let mine = Self.words(part)
            let settings = SettingsSchema.all.filter { mine.contains(home($0.name) ?? "") }
            return GeneratedPage.table(["Setting", "Default", "Allowed", "Description"], settings.map(Self.row))
        }
        #expect(difference == nil)
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    private static func row(_ setting: SettingDefinition) -> [String] {
        let unit = setting.unit.map { " (\($0))" } ?? ""
        return ["`\(setting.name)`", setting.defaultText.map { "`\($0)`" } ?? "", setting.allowed + unit, setting.summary]
    }
}
