import Basics
import CCurl
import EventLoop

/// libcurl's own HTTP/1.1 as a driven client, for comparison with ours.
final class LibcurlClient: DrivenClient {
    private(set) var reading: AnswerReading?
    private let url: String
    private let multi: UnsafeMutableRawPointer
    private var easy: UnsafeMutableRawPointer?
    fileprivate var body: [UInt8] = []

    struct NoHandle: Error {}

    /// The version that runs, first `libcurl/7.88.1`, then those of its parts.
    static var version: String { String(cString: curl_version()) }

    init(port: UInt16) throws {
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init() else { throw NoHandle() }
        self.multi = multi
        url = "http://127.0.0.1:\(port)/x"
    }

    deinit {
        end()
        curl_multi_cleanup(multi)
    }

    func start(isHead: Bool) throws {
        end()
        (reading, body) = (nil, [])
        guard let easy = curl_easy_init() else { throw NoHandle() }
        self.easy = easy
        let results = [
            push_curl_set_string(easy, CURLOPT_URL, url), push_curl_set_string(easy, CURLOPT_PROXY, ""),
            push_curl_set_long(easy, CURLOPT_NOSIGNAL, 1), push_curl_set_long(easy, CURLOPT_NOBODY, isHead ? 1 : 0),
            push_curl_set_write_function(easy, takeBody),
            push_curl_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque()),
        ]
        guard results.allSatisfy({ $0 == CURLE_OK }), curl_multi_add_handle(multi, easy) == CURLM_OK else { throw NoHandle() }
        perform()
    }

    func step(until end: MonotonicTime) -> Bool {
        var events: Int32 = 0
        curl_multi_poll(multi, nil, 0, Int32(clamping: max(0, end.nanoseconds(since: .now()) / 1_000_000)), &events)
        perform()
        return events > 0
    }

    private func perform() {
        var count: Int32 = 0
        curl_multi_perform(multi, &count)
        while let message = curl_multi_info_read(multi, &count) {
            let code = message.pointee.data.result
            reading = code == CURLE_OK ? answer() : .refused(String(cString: curl_easy_strerror(code)))
        }
    }

    /// What libcurl says of the last of the answers, interim ones not counted.
    private func answer() -> AnswerReading {
        var status = 0
        var socket: curl_socket_t = -1
        _ = push_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        _ = push_curl_get_active_socket(easy, &socket)
        var fields: [String] = []
        var header: UnsafeMutablePointer<curl_header>?
        while let next = curl_easy_nextheader(easy, UInt32(CURLH_HEADER), -1, header) {
            let value = String(cString: next.pointee.value)
            // 7.88 gives the CR that ends the line for an empty value.
            fields.append("\(String(cString: next.pointee.name))=\(value == "\r" ? "" : value)")
            header = next
        }
        return .answer(status: status, fields: fields, body: body, keepsConnection: socket >= 0)
    }

    private func end() {
        guard let easy else { return }
        curl_multi_remove_handle(multi, easy)
        curl_easy_cleanup(easy)
        self.easy = nil
    }
}

/// Gets its client as an unretained pointer: the client ends the handle before it goes.
private func takeBody(_ bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, client: UnsafeMutableRawPointer?) -> Int {
    guard let bytes, let client else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    Unmanaged<LibcurlClient>.fromOpaque(client).takeUnretainedValue().body.append(contentsOf: piece)
    return size * count
}
