import Foundation

/// A port of this process that it listens on once more.
enum OwnPort {
    /// The words of the error.
    static var reason: String {
        let name = (try? String(contentsOfFile: "/proc/self/comm", encoding: .utf8)) ?? ""
        return "Address already in use by '\(name.dropLast())' (pid \(getpid()))"
    }
}
