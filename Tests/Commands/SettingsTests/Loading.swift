import Settings

/// A file that the tests' machine does not have.
struct NoSuchFile: Error, CustomStringConvertible {
    let description = "No such file or directory"
}

/// Loads settings from files that exist in the test only.
func load(
    _ environment: [String: String] = [:], file: String? = nil, files: [String: String] = [:], flags: [SettingFlag] = []
) throws(SettingsError) -> Settings {
    var contents = files
    contents["push.yaml"] = file
    return try Settings.load(
        flags: flags, configPath: file == nil ? nil : "push.yaml", environment: environment, hostName: "host-1",
        readFile: { path in
            guard let content = contents[path] else { throw NoSuchFile() }
            return Array(content.utf8)
        })
}

/// The problems of settings that must not load.
func problems(
    _ environment: [String: String] = [:], file: String? = nil, files: [String: String] = [:], flags: [SettingFlag] = []
) -> [String] {
    do {
        _ = try load(environment, file: file, files: files, flags: flags)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}
