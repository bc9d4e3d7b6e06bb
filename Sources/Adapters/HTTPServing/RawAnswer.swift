import CMicroHTTPD
import Glibc

extension HTTPServerResponse {
    /// Head and body as they are on the wire, for what is written beside libmicrohttpd. It ends its connection. After HEAD there
    /// is no body.
    func bytesOnTheWire(hasBody: Bool = true) -> [UInt8] {
        let reason = MHD_get_reason_phrase_for(UInt32(clamping: status)).map { String(cString: $0) } ?? ""
        var head = "HTTP/1.1 \(status) \(reason)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n"
        head += "Date: \(Self.date(time(nil)))\r\n"
        for field in sentFields { head += "\(field.name): \(field.value)\r\n" }
        return Array((head + "\r\n").utf8) + (hasBody ? body : [])
    }

    /// A time as RFC 9110, section 5.6.7, has it.
    private static func date(_ seconds: time_t) -> String {
        var (moment, parts) = (seconds, tm())
        gmtime_r(&moment, &parts)
        var text = [CChar](repeating: 0, count: 64)
        let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
