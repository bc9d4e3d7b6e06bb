import HTTP1
import Testing

struct RequestHeadTests {
    @Test func writesAHeadByteForByte() throws {
        var bytes: [UInt8] = []
        try RequestHead.begin(
            method: "POST", target: "/demo/messages/?api-version=2015-01".utf8, host: "ns.example:8800", into: &bytes)
        try RequestHead.field("Authorization", value: "SharedAccessSignature sr=x&sig=y%3D", into: &bytes)
        try RequestHead.field("X-Empty", value: "", into: &bytes)
        RequestHead.end(contentLength: 120, into: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "POST /demo/messages/?api-version=2015-01 HTTP/1.1\r\nHost: ns.example:8800\r\n"
                + "Authorization: SharedAccessSignature sr=x&sig=y%3D\r\nX-Empty: \r\nContent-Length: 120\r\n\r\n")
    }

    @Test func aRequestWithoutBodySaysNothingOfIt() throws {
        var bytes: [UInt8] = []
        try RequestHead.begin(method: "GET", target: "/".utf8, host: "h", into: &bytes)
        RequestHead.end(contentLength: nil, into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    @Test(arguments: ["a\r\nX: b", "a\nb", "a\rb", "a\u{0}b", "\r", "\n", "\u{0}", "a\u{7F}", "\u{1B}", " a", "a ", "\t"])
    func aValueThatCouldStartALineIsRefusedAndNothingIsWritten(_ value: String) {
        var bytes = Array("before".utf8)
        #expect(throws: RequestHead.Fault.invalidFieldValue) { try RequestHead.field("X", value: value, into: &bytes) }
        #expect(bytes == Array("before".utf8))
    }

    @Test(arguments: ["", "X Y", "X:", "X\r", "É", "Host", "content-length", "TRANSFER-ENCODING"])
    func aNameThatIsNoTokenOrNotTheCallersIsRefused(_ name: String) {
        var bytes: [UInt8] = []
        #expect(throws: RequestHead.Fault.invalidFieldName) { try RequestHead.field(name, value: "v", into: &bytes) }
        #expect(bytes.isEmpty)
    }

    @Test(arguments: [
        ("GE T", "/", "h", RequestHead.Fault.invalidMethod), ("", "/", "h", .invalidMethod),
        ("GET\r\n", "/", "h", .invalidMethod),
        ("GET", "", "h", .invalidTarget), ("GET", "x", "h", .invalidTarget), ("GET", "/a b", "h", .invalidTarget),
        ("GET", "/a\r\nX: y", "h", .invalidTarget), ("GET", "/é", "h", .invalidTarget), ("GET", "/", "", .invalidHost),
        ("GET", "/", "h\r\n", .invalidHost), ("GET", "/", "h h", .invalidHost),
    ])
    func aRequestLineIsRefusedWhole(_ method: String, _ target: String, _ host: String, _ fault: RequestHead.Fault) {
        var bytes: [UInt8] = []
        #expect(throws: fault) { try RequestHead.begin(method: method, target: target.utf8, host: host, into: &bytes) }
        #expect(bytes.isEmpty)
    }
}
