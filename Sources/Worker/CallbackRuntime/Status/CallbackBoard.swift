import PushModel
import Synchronization

/// The board on which the loop writes down once a second how its receivers stand. Safe from any thread.
final class CallbackBoard: Sendable {
    /// The last word. Nothing else is locked while it is held.
    private let receivers = Mutex<[ReceiverStatus]>([])
    private let version: String
    private let instance: String

    /// A board on which nothing stands.
    init(version: String, instance: String) { (self.version, self.instance) = (version, instance) }

    /// Writes down how the receivers stand.
    func post(_ statuses: [ReceiverStatus]) { receivers.withLock { $0 = statuses } }

    /// Everything as one JSON object on one line.
    var json: [UInt8] {
        var object = JSONObject(["version": version, "instance": instance])
        object.add("receivers", array: receivers.withLock { $0 }.map(\.json))
        return object.bytes + [0x0A]
    }
}
