import Synchronization

/// What the library's callbacks share: the handler, the limits and the counters of one running server.
final class ServerCore: Sendable {
    let handler: @Sendable (HTTPServerRequest) -> HTTPServerResponse
    let maximumBodyByteCount: Int
    let maximumHeaderByteCount: Int
    let isSecure: Bool
    let timer = DelayTimer()
    /// Requests whose answer has not left yet.
    let activeCount = Atomic<Int>(0)
    /// Set once the server is stopping: every answer then ends its connection.
    let isDraining = Atomic<Bool>(false)

    init(_ configuration: HTTPServerConfiguration, handler: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse) {
        self.handler = handler
        maximumBodyByteCount = configuration.maximumBodyByteCount
        maximumHeaderByteCount = configuration.maximumHeaderByteCount
        isSecure = configuration.identity != nil
    }
}

/// What is kept for one connection: its peer's name and how many requests it brought.
///
/// Touched only by callbacks of its own connection, which the library never runs at the same time.
final class ConnectionState {
    let remoteAddress: String
    var requestCount = 0

    init(remoteAddress: String) {
        self.remoteAddress = remoteAddress
    }
}
