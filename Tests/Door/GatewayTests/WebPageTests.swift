@testable import Page
@testable import GatewayAPI
import HTTPServing
import TestSupport
import Testing
import WebFiles

@testable import Gateway

/// The files of the web page as they are served.
@Suite(.tags(.threads)) struct WebPageTests {
    private let gateway: PageStage

    init() throws { gateway = try PageStage([]) }

    @Test(arguments: [
        ("GET", "/ui", 200), ("GET", "/ui/main.js", 200), ("GET", "/ui/", 308), ("GET", "/ui/nothing", 404),
        ("GET", "/ui/%2e%2e", 404), ("GET", "/ui/a/b", 404), ("GET", "/ui//", 404), ("POST", "/ui", 405),
        ("PUT", "/ui/main.js", 405),
    ])
    func everyAnswerKeepsForeignCodeOut(method: String, path: String, status: Int) throws {
        let answer = try gateway.ask(request(method, path))
        #expect(answer.status == status)
        let policy = try #require(field("Content-Security-Policy", of: answer.head))
        for rule in [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
            "form-action 'none'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] { #expect(policy.split(separator: "; ").contains(Substring(rule))) }
        #expect(!policy.contains("unsafe"))
        for (name, value) in [
            ("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] { #expect(field(name, of: answer.head) == value) }
        #expect(answer.head.split(separator: "\r\n").count { $0.contains("nosniff") } == 1)
        #expect(field("Permissions-Policy", of: answer.head)?.contains("camera=(), ") == true)
    }

    @Test(arguments: [
        ("/ui", "index.html"), ("/ui/index.html", "index.html"), ("/ui/style.css", "style.css"), ("/ui/main.js", "main.js"),
    ])
    func aFileIsServedToAnybodyOnceAsLongAsItIsTheSame(path: String, name: String) throws {
        let file = try #require(try WebFile.all().first { $0.name == name })
        for (fields, form) in [([], file.plain), (["Accept-Encoding: br, gzip"], file.packed)] {
            let first = try gateway.ask(request("GET", path, fields))
            #expect(first.status == 200 && first.body == form.bytes)
            #expect(field("Content-Type", of: first.head) == file.mediaType)
            #expect(field("Content-Encoding", of: first.head) == (fields.isEmpty ? nil : "gzip"))
            let again = try gateway.ask(request("GET", path, fields + ["If-None-Match: \"x\", \(form.entityTag)"]))
            #expect(again.status == 304 && again.body.isEmpty)
            for head in [first.head, again.head] {
                #expect(field("ETag", of: head) == form.entityTag && field("Cache-Control", of: head) == "no-cache")
                #expect(field("Vary", of: head) == "Accept-Encoding")
            }
            #expect(try gateway.ask(request("GET", path, fields + ["If-None-Match: \"x\""])).status == 200)
        }
    }

    @Test func headGetsTheLengthAndNoBody() throws {
        let client = try RawClient(port: gateway.port)
        client.send(request("HEAD", "/ui"))
        let answer = client.answer(toHEAD: true)
        let file = try #require(try WebFile.all().first { $0.name == "index.html" })
        #expect(answer.status == 200 && field("Content-Length", of: answer.head) == "\(file.plain.bytes.count)")
        client.send(request("GET", "/ui/nothing"))
        #expect(client.answer().status == 404)
    }

    @Test(arguments: [("/ui/", "/ui"), ("/ui/?a=b", "/ui?a=b")])
    func theFolderLeadsToThePage(path: String, location: String) throws {
        let answer = try gateway.ask(request("GET", path))
        #expect(answer.status == 308 && field("Location", of: answer.head) == location)
    }

    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("br, GZIP", true), ("x-gzip", true), ("gzip ; q=0", false),
            ("gzip;q=0", false), ("gzip; q=0.000", false),
            ("gzip;q=0.1", true), ("*", true), ("*;q=0", false), ("*, gzip;q=0", false), ("identity", false), ("gzip;q=x", false),
            (",;,", false),
        ] as [(String?, Bool)])
    func gzipIsSentToThoseWhoTakeIt(accepted: String?, isTaken: Bool) {
        var headers = HTTPFields()
        if let accepted { headers.append("Accept-Encoding", value: accepted) }
        #expect(headers.admitsGzip == isTaken)
    }

    @Test(arguments: ["/ui", "/ui/", "/ui/main.js", "/ui/a/b"]) func withoutTheSettingThereIsNothing(path: String) throws {
        let gateway = try TestGateway(demo: true)
        for method in ["GET", "POST"] {
            let answer = try gateway.ask(request(method, path))
            #expect(answer.status == 404 && !answer.head.contains("Content-Security-Policy"))
        }
        #expect(!gateway.services.log.text.contains("/ui"))
    }

    @Test func theLogHasItsAddress() throws {
        #expect(gateway.services.log.text.contains("\"http://127.0.0.1:\(gateway.port)/ui\""))
    }

    @Test func withoutKeysThereIsNone() throws {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: TestGateway.hubThatIsAway)
        configuration.servesPage = true
        let error = #expect(throws: GatewayFailure.self) {
            try GatewayService(configuration, services: TestServices().services)
        }
        #expect(error == .configuration("gateway.ui: the page needs keys, and gateway.keys_file is not set"))
    }
}
