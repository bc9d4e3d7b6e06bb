/// The one table of every key. What is not here does not exist.
public enum SettingsSchema {
    /// Every key, in the order in which people read them.
    public static let all = Settings.definitions(naming: NamedSettings())
}
