import Basics
import Glibc
import HTTP1

/// One call over plain HTTP on a connection of its own. Blocks until the answer is there or time is up.
package enum PlainRequest {
    /// The reason for which there is no answer. Its text is one line, and may have the address in it.
    package enum Failure: Error, CustomStringConvertible {
        /// The address, method or fields cannot stand in a request.
        case impossible(String)
        /// Nothing answers at the address in time.
        case unanswered(HealthTarget, reason: String)
        /// The answer is no HTTP.
        case garbled(HealthTarget, reason: String)

        package var description: String {
            switch self {
            case .impossible(let reason): "the URL cannot be asked: \(reason)"
            case .unanswered(let target, let reason): "nothing answers at \(target): \(reason)"
            case .garbled(let target, let reason): "\(target) did not answer in HTTP: \(reason)"
            }
        }
    }

    /// Makes a call, and reads the answer. The target is percent-encoded, and `fields` has neither `Host`, `Connection` nor
    /// `Content-Length`. All methods but GET send the body's length. Connecting, and each step after it, may take `timeout`.
    package static func call(
        _ method: String = "GET", at target: HealthTarget, fields: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration
    ) throws(Failure) -> (status: Int, body: String) {
        var request: [UInt8] = []
        do throws(RequestHead.Fault) {
            try RequestHead.begin(method: method, target: Array(target.path.utf8), host: target.authority, into: &request)
            try RequestHead.field("Connection", value: "close", into: &request)
            for field in fields { try RequestHead.field(field.name, value: field.value, into: &request) }
        } catch {
            throw .impossible(error.rawValue)
        }
        RequestHead.end(contentLength: method == "GET" ? nil : body.count, into: &request)
        request += body
        let socket = try connect(to: target, timeout: timeout)
        defer { close(socket) }
        guard request.withUnsafeBytes({ send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) == request.count
        else { throw .unanswered(target, reason: String(cString: strerror(errno))) }
        return try read(socket, of: target)
    }

    private static func connect(to target: HealthTarget, timeout: Duration) throws(Failure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let found = getaddrinfo(target.host, String(target.port), &hints, &list)
        guard found == 0 else { throw .unanswered(target, reason: String(cString: gai_strerror(found))) }
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
        throw .unanswered(target, reason: reason)
    }

    private static func read(_ socket: Int32, of target: HealthTarget) throws(Failure) -> (status: Int, body: String) {
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
            throw .garbled(target, reason: error.rawValue)
        }
        guard parser.isComplete else { throw .unanswered(target, reason: "no answer in time") }
        return (parser.answer.status, parser.answer.string(parser.answer.bodyRange))
    }
}

/// The address and path of a page that a worker or gateway serves.
package struct HealthTarget: Sendable, Equatable, CustomStringConvertible {
    /// A name or an address. An IPv6 address has no brackets here.
    package let host: String
    /// 1 to 65535, or 0 for a port that is not known.
    package let port: Int
    /// The path, with its query.
    package let path: String

    /// An address of the given parts.
    package init(host: String, port: Int, path: String) {
        self.host = host
        self.port = port
        self.path = path
    }

    /// The same address with another path.
    package func at(_ path: String) -> HealthTarget { HealthTarget(host: host, port: port, path: path) }

    fileprivate var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    package var description: String { "http://\(authority)\(path)" }
}
