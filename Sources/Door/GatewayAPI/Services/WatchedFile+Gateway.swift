package import EventLoop
import Observability

extension WatchedFile {
    /// Reads the file that `setting` names, if it names one, and logs later readings in these words. Fails where the file is missing or not
    /// right.
    package static func watch(
        _ path: String?, setting: String, read: StaticString, kept: StaticString, services: GatewayServices
    ) throws(GatewayFailure) -> WatchedFile? {
        guard let path else { return nil }
        do throws(Failure) {
            return try WatchedFile(path, now: services.now()) { [log = services.log] report in
                switch report {
                case .read(let count): log.info(.configurationLoaded, read, [.count: LogValue(count)])
                case .kept(let reason): log.error(.configurationLoaded, kept, [.reason: .string(reason.description)])
                }
            }
        } catch {
            throw .configuration("\(setting): '\(path)' \(error)")
        }
    }
}
