import HTTPServing
import HubAuth
import HubServer
import TestSupport
import Testing

@testable import HubService

/// Who may do what with hubs at one address.
@Suite(.tags(.c)) struct HostAccessTests {
    @Test func theKeyOfOneHubOpensNoOther() throws {
        let stage = try HostStage(["shop", "news"])
        #expect(try stage.register("phone", at: "news").status == 200)
        let strangers = [
            try HostStage.token(of: "shop"), try HostStage.token(of: "news", key: HostStage.key + "shop"),
            try HostStage.token(of: "shop", key: HostStage.key + "news"),
        ]
        for token in strangers {
            #expect(try stage.register("phone", at: "news", token: token).status == 401)
            #expect(stage.call("GET", "/devices?hub=news", token: token, from: "192.0.2.7:1").status == 401)
        }
    }

    @Test func theLinkOfOneHubOpensNoOther() throws {
        let stage = try HostStage(["shop", "news"])
        let answer = stage.call("GET", "/shop/feedbackcontainer?api-version=2020-06", token: try HostStage.token(of: "shop"))
        let link = try #require(answer.text.firstRange(of: "/shop/blobs/")).lowerBound
        let target = String(answer.text[link...])
        #expect(stage.call("GET", target).status == 200)
        #expect(stage.call("GET", "/NEWS" + target.dropFirst(5)).status == 403)
        #expect(stage.call("DELETE", target).status == 405)
    }

    @Test func aLinkWorksAfterARestart() throws {
        let folder = try TemporaryFolder()
        let first = try HostStage(in: folder)
        let answer = first.call("GET", "/shop/feedbackcontainer?api-version=2020-06", token: try HostStage.token(of: "shop"))
        first.host.stop(within: .seconds(5))
        let link = try #require(answer.text.firstRange(of: "/shop/blobs/")).lowerBound
        #expect(try HostStage(in: folder).call("GET", String(answer.text[link...])).status == 200)
    }

    @Test(arguments: [
        "/", "//", "/shop", "/shop/", "/%2F", "/shop%2Finstallations/a", "/../shop/installations/a", "/x/../shop/installations/a",
        "/%00", "/shop%00/installations/a", "/shop/%2e%2e/news/installations/a", "/SHOP/nothing", "/shopp/installations/a",
        "/devices/", "/devices/rung", "/devices%2F", "/storage", "/storage/", "/storage/../shop.db", "/storage/%2e%2e%2fshop.db",
        "/blobs/feedback", "/shop/blobs", "/shop/blobs/", "/shop/blobs/errors/../feedback", "/calls", "/faults", "/telemetry",
        "/livez/x", "/%E2%84%AA", "/shop/installations/%FF",
    ])
    func aHostilePathOpensNothing(_ path: String) throws {
        let stage = try HostStage(["shop", "news"])
        for method in ["GET", "PUT", "DELETE", "POST", "BREW"] {
            let response = stage.call(method, path + "?api-version=2020-06&sig=x&se=2100-01-01", from: "192.0.2.7:1")
            #expect((400...405).contains(response.status))
        }
    }

    @Test(
        arguments: [
            ("192.0.2.7:1", [:]), ("127.0.0.1:1", ["X-Forwarded-For": "127.0.0.1"]),
            ("127.0.0.1:1", ["Forwarded": "for=127.0.0.1"]),
            ("[2001:db8::1]:1", [:]), ("127.0.0.1:1", ["Via": "1.1 proxy"]), ("", [:]),
        ] as [(String, [String: String])])
    func aStrangerSeesNoDevices(_ address: String, fields: [String: String]) throws {
        let stage = try HostStage()
        var headers: HTTPFields = [:]
        for (name, value) in fields { headers.append(name, value: value) }
        for hub in ["", "?hub=shop", "?hub=none"] {
            let answer = stage.call("GET", "/devices" + hub, from: address, headers: headers)
            #expect(answer.status == 401 && !answer.text.contains("shop"))
        }
        let token = try HostStage.token(of: "shop")
        #expect(stage.call("GET", "/devices", token: token, from: address, headers: headers).status == 200)
    }

    /// What a proxy on this machine sends for whoever calls it.
    @Test(
        arguments: [[:], ["Host": "127.0.0.1:8800"], ["Host": "localhost"]] as [[String: String]],
        [(false, false), (false, true), (true, true)])
    func aProxyOnThisMachineOpensNoDevices(_ fields: [String: String], settings: (isOpen: Bool, isBehindProxy: Bool)) throws {
        let stage = try HostStage(["shop", "news"]) {
            ($0.opensDevices, $0.trustsForwardedProto) = (settings.isOpen, settings.isBehindProxy)
        }
        var headers: HTTPFields = [:]
        for (name, value) in fields { headers.append(name, value: value) }
        func answer(_ target: String) -> HTTPServerResponse {
            stage.host.handle(
                HTTPServerRequest(method: "GET", target: target, headers: headers, remoteAddress: "127.0.0.1:4711"))
        }
        for target in ["/devices", "/devices?hub=shop", "/devices?hub=none"] { #expect(answer(target).status == 401) }
        #expect(answer("/readyz?verbose").text == "not ready\n")
        let token = try HostStage.token(of: "shop")
        #expect(stage.call("GET", "/devices?hub=shop", token: token).status == 200)
        #expect(stage.call("GET", "/devices", token: token).status == 404)
        #expect(stage.call("GET", "/devices?hub=news", token: token).status == 401)
    }

    @Test func aPageThatLeadsAnotherNameHereSeesNoDevices() throws {
        let stage = try HostStage()
        let request = HTTPServerRequest(method: "GET", target: "/devices", headers: ["Host": "evil.example"])
        #expect(stage.host.handle(request).status == 401)
        for host in ["localhost:8800", "127.0.0.1:8800", "[::1]:8800", "LOCALHOST"] {
            let request = HTTPServerRequest(
                method: "GET", target: "/devices", headers: ["Host": host], remoteAddress: "[::1]:4711")
            #expect(stage.host.handle(request).status == 200)
        }
    }

    @Test func aTokenWithoutManageSeesNoDevices() throws {
        let stage = try HostStage { $0.hubs[0].policies.append(HubPolicy(name: "app", key: "k", rights: [.listen, .send])) }
        let token = try HostStage.token(of: "shop", policy: "app", key: "k")
        #expect(stage.call("GET", "/devices", token: token, from: "192.0.2.7:1").status == 401)
        #expect(stage.call("PUT", "/storage/c/f", "x", token: token).status == 403)
    }

    @Test func filesOfJobsAreForTheManagersOfTheirHub() throws {
        let stage = try HostStage(["shop", "news"])
        let (shop, news) = (try HostStage.token(of: "shop"), try HostStage.token(of: "news"))
        #expect(stage.call("PUT", "/storage/jobs/in.txt", "content").status == 403)
        #expect(stage.call("PUT", "/storage/jobs/in.txt", "content", token: shop).status == 201)
        #expect(stage.call("GET", "/storage/jobs/in.txt").status == 403)
        #expect(stage.call("GET", "/storage/jobs/in.txt", token: news).status == 404)
        #expect(stage.call("GET", "/storage/jobs/in.txt", token: shop).text == "content")
        let query = shop.dropFirst("SharedAccessSignature ".count)
        #expect(stage.call("GET", "/storage/jobs/in.txt?comp=block&\(query)", from: "192.0.2.7:1").text == "content")
        #expect(stage.call("GET", "/storage/jobs/in.txt?\(query.dropLast(3))").status == 403)
        #expect(stage.call("POST", "/storage/jobs/in.txt", token: shop).status == 405)
        #expect(stage.call("DELETE", "/storage/jobs/in.txt?\(query)").status == 202)
        #expect(stage.call("GET", "/storage/jobs/in.txt", token: shop).status == 404)
    }

    @Test func onlyAManagerMaySendALongBody() throws {
        let stage = try HostStage()
        func limit(_ target: String, _ token: String? = nil) -> Int {
            var headers: HTTPFields = ["Host": "127.0.0.1"]
            if let token { headers.append("Authorization", value: token) }
            let head = HTTPServerRequest(method: "PUT", target: target, headers: headers)
            if case .read(let count) = stage.host.admission(of: head) { return count }
            return 0
        }
        #expect(limit("/storage/jobs/in.txt") == 0)
        #expect(limit("/storage/jobs/in.txt", try HostStage.token(of: "shop")) == 64 << 20)
        #expect(limit("/shop/installations/a", try HostStage.token(of: "shop")) == 4 << 20)
    }

    @Test func namesAreFoundInAnyCase() throws {
        let stage = try HostStage(["Shop"])
        let token = try HostStage.token(of: "Shop")
        #expect(try stage.register("phone", at: "sHOP", token: token).status == 200)
        #expect(stage.call("GET", "/sh%6fp/installations/phone?api-version=2020-06", token: token).status == 200)
    }

    @Test func aHubAloneNeedsNoNameInTheList() throws {
        #expect(try HostStage().call("GET", "/devices").status == 200)
        let two = try HostStage(["shop", "news"])
        #expect(two.call("GET", "/devices").status == 404)
        #expect(two.call("GET", "/devices?hub=NEWS").status == 200)
        #expect(two.call("POST", "/devices?hub=news").status == 405)
    }
}
