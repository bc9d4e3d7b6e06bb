/// The one table of every key. What is not here does not exist.
public enum SettingsSchema {
    /// Every key, in the order in which people read them.
    public static let all = Settings.definitions(naming: NamedSettings())
    /// The variable that names the file of the key of a hub of one's own. It is no setting, but the other form of a flag.
    public static let handleKeyVariable = SettingVariables.prefix + "HUB_HANDLE_KEY_FILE"
}
