import Dispatch
import HTTPServing
import HubAuth
import HubServer
import Observability
import Synchronization
import TestSupport
import Testing

@testable import HubService

/// Several hubs at one address: what lasts, what new settings do, and what is said of a file that fails.
@Suite(.tags(.c)) struct HubHostTests {
    @Test func aDeviceIsThereAfterARestart() throws {
        let folder = try TemporaryFolder()
        let first = try HostStage(in: folder)
        #expect(try first.register("phone", tags: ["news"]).status == 200)
        first.host.stop(within: .seconds(5))
        let second = try HostStage(in: folder)
        #expect(second.call("GET", "/devices").text.contains(#""handle":"handle-phone","tags":["news","#))
        #expect(second.call("GET", "/devices").headers["X-Total-Count"] == "1")
    }

    @Test func aPushIsListedWithItsDevice() throws {
        let stage = try HostStage()
        for id in ["a", "b"] { _ = try stage.register(id, tags: [id]) }
        let answer = stage.call(
            "POST", "/shop/messages?test&api-version=2020-06", #"{"message":{}}"#, token: try HostStage.token(of: "shop"),
            headers: ["ServiceBusNotification-Format": "fcmv1", "ServiceBusNotification-Tags": "b"])
        #expect(answer.status == 201)
        let list = stage.call("GET", "/devices?tag=B").text
        #expect(list.contains(#""rung_count":1"#) && list.contains("handle-b") && !list.contains("handle-a"))
        #expect(stage.call("GET", "/devices?handle=handle-a").text.contains(#""rung_count":0"#))
    }

    @Test(arguments: ["/devices", "/devices?handle=handle-b"])
    func nothingIsListedOfADeviceThatIsRemoved(list: String) throws {
        let stage = try HostStage()
        _ = try stage.register("b")
        let token = try HostStage.token(of: "shop")
        let sent = stage.call(
            "POST", "/shop/messages?test&api-version=2020-06", #"{"message":{}}"#, token: token,
            headers: ["ServiceBusNotification-Format": "fcmv1"])
        #expect(sent.status == 201)
        #expect(stage.call("GET", list).text.contains(#""rung_count":1"#))
        #expect(stage.call("DELETE", "/shop/installations/b?api-version=2020-06", token: token).status == 204)
        #expect(!stage.call("GET", list).text.contains("handle-b"))
        _ = try stage.register("b")
        #expect(stage.call("GET", list).text.contains(#""rung_count":0"#))
    }

    @Test func thePagesOfTheListHaveEveryDeviceOnce() throws {
        let stage = try HostStage()
        for id in ["a", "b", "c", "d", "e"] { _ = try stage.register(id) }
        var (target, seen): (String?, [Int]) = ("/devices?limit=2&hub=SHOP", [])
        while let next = target, seen.count < 9 {
            let page = stage.call("GET", next)
            #expect(page.status == 200 && page.headers["X-Total-Count"] == "5")
            seen.append(page.text.split(separator: "handle-").count - 1)
            target = page.headers["Link"].map { String($0.dropFirst().prefix { $0 != ">" }) }
        }
        #expect(seen.reduce(0, +) == 5)
        #expect(stage.call("GET", "/devices?after=x").status == 400)
    }

    @Test func aMadeKeyIsKept() throws {
        let folder = try TemporaryFolder()
        let first = try HostStage(in: folder) { $0.hubs[0].policies = [] }
        let string = try #require(first.host.connectionString(of: "Shop"))
        #expect(string.hasPrefix("Endpoint=http://127.0.0.1:0/;SharedAccessKeyName=DefaultFullSharedAccessSignature;"))
        let key = String(string[try #require(string.firstRange(of: "SharedAccessKey=")).upperBound...])
        #expect(key.count == 44)
        let token = try HostStage.token(of: "shop", policy: "DefaultFullSharedAccessSignature", key: key)
        #expect(try first.register("phone", token: token).status == 200)
        #expect(!first.lines.all.joined().contains(key) && !String(decoding: first.host.status, as: UTF8.self).contains(key))
        first.host.stop(within: .seconds(5))
        let second = try HostStage(in: folder) { $0.hubs[0].policies = [] }
        #expect(second.host.connectionString(of: "shop") == string)
        let other = try HostStage { $0.hubs[0].policies = [] }
        #expect(other.host.connectionString(of: "shop") != string)
    }

    @Test func aRecordIsNeverWrittenIntoTheFileOfAHub() throws {
        let folder = try TemporaryFolder()
        #expect(throws: HubHostError.unusableHub(name: "shop", reason: "the record of pushes needs a file of its own")) {
            try HostStage(in: folder) { $0.hubs[0].recordFile = folder.path(".//shop.db") }
        }
        #expect(try HostStage(in: folder).register("phone").status == 200)
    }

    @Test func aHubThatCannotBeOpenedEndsTheStartOfAll() throws {
        let folder = try TemporaryFolder()
        var error: HubHostError?
        do {
            _ = try HostStage(["a", "b"], in: folder) { $0.hubs[1].state = folder.path("none/b.db") }
        } catch let failure as HubHostError { error = failure }
        guard case .unusableHub("b", _) = error else { return #expect(error == nil, "it must name the hub") }
        // The other one was let go of.
        #expect(try HostStage(["a", "b"], in: folder).register("phone", at: "a").status == 200)
    }

    @Test func hubsAreAddedAndKeysReplacedWhileOthersAreServed() throws {
        let stage = try HostStage()
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder), HostStage.hub("news", in: stage.folder)])
        settings.listen = "127.0.0.1:0"
        settings.hubs[0].policies.append(HubPolicy(name: "root", key: "another key", rights: .all))
        stage.host.take(settings)
        #expect(try stage.register("phone", at: "news").status == 200)
        let token = try HostStage.token(of: "shop", key: "another key")
        #expect(try stage.register("old").status == 200)
        #expect(try stage.register("new", token: token).status == 200)
        settings.hubs[0].policies.removeFirst()
        stage.host.take(settings)
        #expect(try stage.register("old").status == 401)
        #expect(try stage.register("new", token: token).status == 200)
        settings.hubs[0].tier = .free
        stage.host.take(settings)
        #expect(stage.call("GET", "/shop/jobs?api-version=2020-06", token: token).status == 403)
        #expect(!stage.lines.all.contains { $0.contains("restart") })
    }

    @Test(.tags(.threads)) func noCallIsLostWhileSettingsAreTaken() throws {
        let stage = try HostStage()
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder)])
        settings.listen = "127.0.0.1:0"
        let statuses = Mutex<[Int: Int]>([:])
        let (token, host) = (try HostStage.token(of: "shop"), stage.host)
        DispatchQueue.concurrentPerform(iterations: 5) { [settings] worker in
            for turn in 0..<40 {
                guard worker > 0 else {
                    var settings = settings
                    settings.hubs[0].policies.append(HubPolicy(name: "app\(turn)", key: "key", rights: .listen))
                    host.take(settings)
                    continue
                }
                let request = HTTPServerRequest(
                    method: "GET", target: "/shop/registrations?api-version=2020-06",
                    headers: ["Host": "127.0.0.1", "Authorization": token])
                let status = host.handle(request).status
                statuses.withLock { $0[status, default: 0] += 1 }
            }
        }
        #expect(statuses.withLock { $0 } == [200: 160])
    }

    @Test func aHubThatCannotBeAddedIsSaidAndTheOthersGoOn() throws {
        let stage = try HostStage()
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder), HostStage.hub("news", in: stage.folder)])
        settings.listen = "127.0.0.1:0"
        settings.hubs[1].state = stage.folder.path("none/news.db")
        stage.host.take(settings)
        #expect(try stage.register("phone").status == 200)
        #expect(stage.call("GET", "/news/jobs").status == 404)
        #expect(stage.lines.all.contains { $0.contains("hub_file") && $0.contains("news") })
        #expect(String(decoding: stage.host.status, as: UTF8.self).contains(#"{"name":"news","problem":"the hub news cannot be"#))
        let ready = stage.call("GET", "/readyz")
        #expect(ready.status == 200 && ready.text.hasPrefix("degraded hub_files: "))
        settings.hubs[1].state = stage.folder.path("news.db")
        stage.host.take(settings)
        #expect(try stage.register("phone", at: "news").status == 200)
        #expect(stage.call("GET", "/readyz").text == "ok\n")
    }

    @Test func whatCountsAfterARestartIsSaid() throws {
        let stage = try HostStage(["shop", "news"])
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder)])
        (settings.listen, settings.threadCount) = ("127.0.0.1:1", 3)
        (settings.hubs[0].state, settings.hubs[0].recordFile) = (stage.folder.path("other.db"), "/x")
        for _ in 0..<2 {
            stage.host.take(settings)
            let status = String(decoding: stage.host.status, as: UTF8.self)
            #expect(
                status.contains(#""after_restart":["listen","threads","shop, state","shop, record_file","hubs without news"]"#))
        }
        #expect(try stage.register("phone", at: "news").status == 200)
        #expect(stage.lines.all.contains { $0.contains("configuration_doubtful") && $0.contains("shop, state") })
    }

    @Test func aFileThatCannotBeWrittenIsSaidAndAgainWhenItCan() throws {
        let problem = Mutex<String?>(nil)
        let reading: @Sendable () -> String? = { problem.withLock { $0 } }
        let stage = try HostStage(open: { (hub, metrics, clock) throws(HubHostError) in
            let parts = try HubParts.open(hub, metrics: metrics, clock: clock)
            return HubParts(
                devices: parts.devices, journal: parts.journal, jobs: parts.jobs, counts: parts.counts, value: parts.value,
                setValue: parts.setValue, problem: reading, byteCount: parts.byteCount, close: parts.close)
        })
        _ = try stage.host.start()
        #expect(stage.call("GET", "/readyz").text == "ok\n")
        problem.withLock { $0 = "the disk is full" }
        let ready = stage.call("GET", "/readyz")
        #expect(ready.status == 503 && ready.text.contains("failing hub_files: shop: the disk is full"))
        #expect(stage.call("GET", "/readyz", from: "192.0.2.7:1").text == "not ready\n")
        #expect(stage.lines.all.count { $0.contains("cannot be written") } == 1)
        problem.withLock { $0 = nil }
        #expect(stage.call("GET", "/readyz").status == 200)
        #expect(stage.lines.all.count { $0.contains("can be written again") } == 1)
    }

    @Test func theServedAddressIsInTheConnectionString() throws {
        let stage = try HostStage()
        let address = try stage.host.start()
        #expect(address.port != 0)
        #expect(
            stage.host.connectionString(of: "shop")?.hasPrefix("Endpoint=http://\(address)/;SharedAccessKeyName=root;") == true)
        #expect(stage.host.connectionString(of: "none") == nil)
        let second = try HostStage { $0.listen = "\(address)" }
        #expect {
            try second.host.start()
        } throws: { error in
            if case .cannotListen? = error as? HubHostError { true } else { false }
        }
    }

    @Test func requestsAndDevicesAreCounted() throws {
        let stage = try HostStage()
        _ = try stage.register("phone")
        _ = try stage.register("phone", token: "nonsense")
        _ = stage.call("GET", "/elsewhere")
        _ = stage.call("GET", "/readyz")
        var bytes: [UInt8] = []
        stage.metrics.registry.write(into: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        for line in [
            #"pushfan_hub_requests_total{hub="shop",status="200"} 1"#, #"pushfan_hub_requests_total{hub="shop",status="401"} 1"#,
            #"pushfan_hub_requests_total{hub="none",status="404"} 1"#, #"pushfan_hub_devices{hub="shop"} 1"#,
            #"pushfan_hub_store_failing{hub="shop"} 0"#, #"pushfan_hub_store_commit_seconds_bucket{hub="shop",le="+Inf"} "#,
        ] {
            #expect(text.contains(line.hasSuffix(" ") ? line : line + "\n"))
        }
    }
}
