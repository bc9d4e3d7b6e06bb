import EventLoop
import Kafka
import Settings
import Synchronization

/// The files that may be replaced while a service runs: those of Kafka's properties, and those of the hubs' keys.
final class ChangingFiles: Sendable {
    private let properties: LiveProperties?
    private let keyFiles: [String]
    private let changes: Mutex<FileChanges>

    /// The files that settings were read from.
    init(_ settings: Settings) {
        properties = settings.liveProperties
        keyFiles = settings.hubKeyFiles
        changes = Mutex(FileChanges(keyFiles))
    }

    /// Notes that the files of keys are read now, at the latest.
    func takeKeys() { changes.withLock { _ = $0.take(keyFiles) } }

    /// True once after files were replaced, and have then stayed for two calls. To be called every few seconds.
    func findsNew() -> Bool {
        let hasNewKeys = changes.withLock { $0.findNew(among: keyFiles) }
        return properties?.findsNewFiles() == true || hasNewKeys
    }
}
