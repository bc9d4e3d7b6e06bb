import HTTPServing

/// The emulator's own paths. None is part of a hub.
enum AdminRoute: Equatable {
    case devices
    case resetRings
    case calls
    case resetCalls
    case faults
    case setFaults
    case addFaults
    case clearFaults
    case telemetry
    case setTelemetry
    case addTelemetry
    case clearTelemetry
    /// The target of a link to error details or feedback.
    case blob
    /// A blob that a job reads or writes.
    case storage(path: String)
    case setFeedback(name: String)
    case addFeedback(name: String)
    case live
    /// A path of the emulator with a method that it does not know.
    case methodNotAllowed(allowed: String)

    private static let collections = ["devices", "calls", "faults", "telemetry", "blobs", "feedback", "storage", "livez"]

    /// True if a hub of this name could not be distinguished from the emulator's own paths.
    static func isReserved(_ name: String) -> Bool { collections.contains(name.lowercased()) }

    /// The route of a request, or `nil` when it is for the hub.
    init?(_ request: HTTPServerRequest) {
        var path = request.path[...]
        if path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        let methods: KeyValuePairs<String, AdminRoute>
        switch path {
        case "/devices": methods = ["GET": .devices]
        case "/devices/rung": methods = ["DELETE": .resetRings]
        case "/calls": methods = ["GET": .calls, "DELETE": .resetCalls]
        case "/faults": methods = ["GET": .faults, "PUT": .setFaults, "POST": .addFaults, "DELETE": .clearFaults]
        case "/telemetry":
            methods = ["GET": .telemetry, "PUT": .setTelemetry, "POST": .addTelemetry, "DELETE": .clearTelemetry]
        case "/livez": methods = ["GET": .live]
        default:
            let name = String(path.dropFirst("/feedback/".count))
            if path.hasPrefix("/feedback/"), !name.isEmpty {
                methods = ["PUT": .setFeedback(name: name), "POST": .addFeedback(name: name)]
            } else if path.hasPrefix(EmulatedHub.storagePath) {
                let blob = AdminRoute.storage(path: String(path.dropFirst(EmulatedHub.storagePath.count)))
                methods = ["GET": blob, "PUT": blob, "DELETE": blob]
            } else if path.hasPrefix("/blobs/") {
                methods = ["GET": .blob]
            } else {
                return nil
            }
        }
        let found = methods.first { $0.key == request.method || ($0.key == "GET" && request.method == "HEAD") }
        self =
            found?.value
            ?? .methodNotAllowed(allowed: methods.map { $0.key == "GET" ? "GET, HEAD" : $0.key }.joined(separator: ", "))
    }
}
