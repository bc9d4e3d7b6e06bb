/// A page of the documentation, as the program carries it.
///
/// The pages are the files of `Sources/PushFan/PushFan.docc`. SwiftPM makes bytes of them (`embedInCode` in Package.swift), so the
/// program can show them where nothing but its one file is installed.
public struct Page: Sendable {
    /// The file's name without its ending, such as `LargeRequests`.
    public let name: String
    /// The file, byte for byte: Markdown in UTF-8.
    public let bytes: [UInt8]

    /// What a person types: the name in lower case.
    public var topic: String { name.lowercased() }

    /// The first sentence below the title.
    public var summary: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let paragraph = lines.drop { $0.isEmpty || $0.hasPrefix("#") }.prefix { !$0.isEmpty }.joined(separator: " ")
        var sentence: [Substring] = []
        for word in paragraph.split(separator: " ") {
            sentence.append(word)
            if word.hasSuffix(".") { break }
        }
        return sentence.joined(separator: " ")
    }

    /// The page that a person means.
    ///
    /// - Parameter word: A topic in upper or lower case, with hyphens or without, or the beginning of one.
    /// - Returns: nil when there is no such topic, or several begin like that.
    public static func find(_ word: String) -> Page? {
        let word = word.lowercased().filter { $0 != "-" }
        let begun = all.filter { $0.topic.hasPrefix(word) }
        return begun.first { $0.topic == word } ?? (begun.count == 1 ? begun.first : nil)
    }

    /// Every page, in the order of the README.
    public static let all: [Page] = [
        Page(name: "RequestPath", bytes: PackageResources.RequestPath_md),
        Page(name: "Scheduling", bytes: PackageResources.Scheduling_md),
        Page(name: "Requests", bytes: PackageResources.Requests_md),
        Page(name: "LargeRequests", bytes: PackageResources.LargeRequests_md),
        Page(name: "Results", bytes: PackageResources.Results_md),
        Page(name: "Outcomes", bytes: PackageResources.Outcomes_md),
        Page(name: "Replay", bytes: PackageResources.Replay_md),
        Page(name: "Configuration", bytes: PackageResources.Configuration_md),
        Page(name: "Hubs", bytes: PackageResources.Hubs_md),
        Page(name: "Gateway", bytes: PackageResources.Gateway_md),
        Page(name: "Operations", bytes: PackageResources.Operations_md),
        Page(name: "Guarantees", bytes: PackageResources.Guarantees_md),
        Page(name: "Failures", bytes: PackageResources.Failures_md),
        Page(name: "ExitCodes", bytes: PackageResources.ExitCodes_md),
        Page(name: "Emulator", bytes: PackageResources.Emulator_md),
        Page(name: "Measuring", bytes: PackageResources.Measuring_md),
        Page(name: "Developing", bytes: PackageResources.Developing_md),
        Page(name: "Glossary", bytes: PackageResources.Glossary_md),
        Page(name: "Upgrading", bytes: PackageResources.Upgrading_md),
        Page(name: "Changelog", bytes: PackageResources.Changelog_md),
        Page(name: "Contributing", bytes: PackageResources.Contributing_md),
    ]
}
