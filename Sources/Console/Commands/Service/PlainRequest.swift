import Basics
import Glibc
import HTTP1

/// One call over plain HTTP on a connection of its own. Blocks until the answer is there or time is up.
public enum PlainRequest {
    /// Makes a call, and reads the answer.
    ///
    /// - Parameters:
    ///   - method: A token such as `POST`.
    ///   - url: `http://host:port/path?query`, percent-encoded.
    ///   - fields: Header fields besides `Host`, `Connection` and `Content-Length`.
    ///   - body: The body. All methods but GET send its length.
    ///   - timeout: The time limit of connecting, and of each step after it.
    /// - Returns: The status and the body.
    /// - Throws: `usage` for an impossible call, `unreachable` naming the address, `failed` for an answer that is no HTTP.
    public static func call(
        _ method: String, _ url: String, fields: [(name: String, value: String)] = [], body: [UInt8] = [], timeout: Duration
    ) throws(CommandFailure) -> (status: Int, body: String) {
        guard let target = HealthTarget(url: url) else { throw .usage("this is no URL that begins with http://") }
        return try call(method, target, fields, body, timeout)
    }

    /// Sends the call, and reads the answer.
    ///
    /// - Parameters:
    ///   - target: The address and path to call.
    ///   - timeout: The time limit of connecting, and of each step after it.
    /// - Returns: The status and the body.
    /// - Throws: `unreachable` naming the address, or `failed` for an answer that is no HTTP.
    static func get(_ target: HealthTarget, timeout: Duration) throws(CommandFailure) -> (status: Int, body: String) {
        try call("GET", target, [], [], timeout)
    }

    private static func call(
        _ method: String, _ target: HealthTarget, _ fields: [(name: String, value: String)], _ body: [UInt8], _ timeout: Duration
    ) throws(CommandFailure) -> (status: Int, body: String) {
        var request: [UInt8] = []
        do throws(RequestHead.Fault) {
            try RequestHead.begin(method: method, target: Array(target.path.utf8), host: target.authority, into: &request)
            try RequestHead.field("Connection", value: "close", into: &request)
            for field in fields { try RequestHead.field(field.name, value: field.value, into: &request) }
        } catch {
            throw .usage("the URL cannot be asked: \(error.rawValue)")
        }
        RequestHead.end(contentLength: method == "GET" ? nil : body.count, into: &request)
        request += body
        let socket = try connect(target, timeout)
        defer { close(socket) }
        guard request.withUnsafeBytes({ send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) == request.count
        else { throw unreachable(target, String(cString: strerror(errno))) }
        return try read(socket, target)
    }

    private static func connect(_ target: HealthTarget, _ timeout: Duration) throws(CommandFailure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let found = getaddrinfo(target.host, String(target.port), &hints, &list)
        guard found == 0 else { throw unreachable(target, String(cString: gai_strerror(found))) }
        defer { freeaddrinfo(list) }
        var reason = "no address"
        var next = list
        while let info = next?.pointee {
            next = info.ai_next
            let descriptor = socket(info.ai_family, info.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), info.ai_protocol)
            guard descriptor >= 0 else { continue }
            // A time-out for sending holds for connecting, too (socket(7), SO_SNDTIMEO).
            let milliseconds = max(1, timeout.wholeMilliseconds)
            var limit = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000 * 1000))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 { return descriptor }
            reason = errno == EINPROGRESS ? "no answer in time" : String(cString: strerror(errno))
            close(descriptor)
        }
        throw unreachable(target, reason)
    }

    private static func read(_ socket: Int32, _ target: HealthTarget) throws(CommandFailure) -> (status: Int, body: String) {
        var parser = AnswerParser()
        var chunk = [UInt8](repeating: 0, count: 16_384)
        do throws(AnswerFault) {
            while !parser.isComplete {
                let count = chunk.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
                if count < 0 && errno == EINTR { continue }
                if count < 0 { break }
                if count == 0 {
                    try parser.connectionClosed()
                    break
                }
                _ = try parser.feed(chunk.span.extracting(first: count))
            }
        } catch {
            throw CommandFailure(.failed, "\(target) did not answer in HTTP: \(error.rawValue)")
        }
        guard parser.isComplete else { throw unreachable(target, "no answer in time") }
        return (parser.answer.status, parser.answer.string(parser.answer.bodyRange))
    }

    private static func unreachable(_ target: HealthTarget, _ reason: String) -> CommandFailure {
        CommandFailure(.unreachable, "nothing answers at \(target): \(reason)")
    }
}
