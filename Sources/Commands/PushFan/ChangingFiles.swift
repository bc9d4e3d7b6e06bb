import EventLoop
import Kafka
import Settings
import Synchronization

/// The files that may be replaced while a service runs: those of Kafka's properties, those of the hubs' keys, the file of hubs.
final class ChangingFiles: Sendable {
    private struct Keys {
        var files: [String]
        var changes: FileChanges

        init(_ files: [String]) { (self.files, changes) = (files, FileChanges(files)) }
    }

    private let properties: LiveProperties?
    private let keys: Mutex<Keys>

    /// The files that settings were read from.
    init(_ settings: Settings) {
        properties = settings.liveProperties
        keys = Mutex(Keys(settings.hubKeyFiles))
    }

    /// Files of which none is Kafka's.
    init(_ files: [String]) {
        properties = nil
        keys = Mutex(Keys(files))
    }

    /// Notes that the files of keys are read now, at the latest.
    func takeKeys() { keys.withLock { _ = $0.changes.take($0.files) } }

    /// Watches the files that settings name which were read just now.
    func follow(_ settings: Settings) { follow(settings.hubKeyFiles) }

    /// Watches files that were read just now.
    func follow(_ files: [String]) {
        keys.withLock { keys in
            guard files != keys.files else { return }
            keys.files = files
            _ = keys.changes.take(files)
        }
    }

    /// True once after files were replaced, and have then stayed for two calls. To be called every few seconds.
    func findsNew() -> Bool {
        let hasNewKeys = keys.withLock { $0.changes.findNew(among: $0.files) }
        return properties?.findsNewFiles() == true || hasNewKeys
    }
}
