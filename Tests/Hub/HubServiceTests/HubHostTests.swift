import Dispatch
import Foundation
import HTTPServing
import HubAuth
import HubServer
import Observability
import Synchronization
import TestSupport
import Testing

@testable import HubService

/// Several hubs at one address: what lasts, what new settings do, and what is said of a file that fails.
@Suite(.tags(.c, .threads)) struct HubHostTests {
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

    @Test(arguments: [".//shop.db", "shop.db-wal", "tls.key", "./handles.key", "settings"])
    func aRecordIsNeverWrittenIntoAnotherFile(_ record: String) throws {
        let folder = try TemporaryFolder()
        try Data("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n".utf8).write(
            to: URL(fileURLWithPath: folder.path("handles.key")))
        #expect(throws: HubHostError.unusableHub(name: "shop", reason: "the record of pushes needs a file of its own")) {
            try HostStage(in: folder) {
                $0.hubs[0].recordFile = folder.path(record)
                $0.hubs[0].handleKeyFile = folder.path("handles.key")
                $0.tls = .init(certificateFile: folder.path("tls.pem"), keyFile: folder.path("tls.key"))
                $0.files = [folder.path("settings")]
            }
        }
        let stage = try HostStage(in: folder) { $0.hubs[0].handleKeyFile = folder.path("handles.key") }
        #expect(try stage.register("phone").status == 200)
    }

    /// A user may give the key in place of its file.
    @Test func aKeyInPlaceOfItsFileIsNotShown() throws {
        #expect {
            _ = try HostStage { $0.hubs[0].handleKeyFile = "CANARYkey" }
        } throws: { error in
            let text = "\(error)"
            return text.contains("the file of the key of its handles does not exist") && !text.contains("CANARY")
        }
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
        (settings.listen, settings.opensDevices) = ("127.0.0.1:0", true)
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

    /// What is wrong with the files of hubs.
    private final class Faults: Sendable {
        /// The reasons for which hubs cannot be written.
        let writing = Mutex<[String: String]>([:])
        /// The hubs that cannot be read.
        let reading = Mutex<Set<String>>([])

        /// Opens a hub whose file has these faults.
        func open(
            _ hub: HubsConfiguration.Hub, _ metrics: HubMetrics, _ clock: @escaping @Sendable () -> Int64
        ) throws(HubHostError) -> HubParts {
            let parts = try HubParts.open(hub, metrics: metrics, clock: clock)
            return HubParts(
                devices: parts.devices, journal: parts.journal, jobs: parts.jobs,
                counts: { () throws(RefusedCall) in
                    guard !self.reading.withLock({ $0.contains(hub.name) }) else { throw .unavailable("the disk is away") }
                    return try parts.counts()
                }, value: parts.value,
                setValue: { (name, bytes) throws(RefusedCall) in
                    if let reason = self.writing.withLock({ $0[hub.name] }) { throw .unavailable(reason) }
                    try parts.setValue(name, bytes)
                }, problem: { self.writing.withLock { $0[hub.name] } }, byteCount: parts.byteCount, close: parts.close)
        }
    }

    @Test func aFileThatCannotBeWrittenIsSaidAndAgainWhenItCan() throws {
        let faults = Faults()
        let stage = try HostStage(["shop", "news"], open: faults.open)
        _ = try stage.host.start()
        #expect(stage.call("GET", "/readyz").text == "ok\n")
        faults.writing.withLock { $0 = ["shop": "the disk is full"] }
        for hubs in [["shop"], ["shop", "news"]] {
            faults.writing.withLock { $0 = Dictionary(uniqueKeysWithValues: hubs.map { ($0, "the disk is full") }) }
            let ready = stage.call("GET", "/readyz")
            #expect(ready.status == 200 && ready.text.contains("degraded hub_files: \(hubs.sorted()[0]): the disk is full"))
            #expect(stage.call("GET", "/readyz", from: "192.0.2.7:1").text == "ok\n")
        }
        #expect(stage.lines.all.count { $0.contains("cannot be written") } == 2)
        faults.reading.withLock { $0 = ["shop"] }
        #expect(stage.call("GET", "/readyz").status == 200)
        faults.reading.withLock { $0 = ["shop", "news"] }
        let ready = stage.call("GET", "/readyz")
        #expect(ready.status == 503 && ready.text.contains("failing hub_files: news: the disk is full"))
        #expect(stage.call("GET", "/readyz", from: "192.0.2.7:1").text == "not ready\n")
        faults.reading.withLock { $0 = [] }
        faults.writing.withLock { $0 = [:] }
        #expect(stage.call("GET", "/readyz").text == "ok\n")
        #expect(stage.lines.all.count { $0.contains("can be written again") } == 2)
    }

    @Test func aFullDiskAtTheStartIsNoFaultOfTheSettings() {
        let faults = Faults()
        faults.writing.withLock { $0 = ["shop": "the disk is full"] }
        #expect {
            _ = try HostStage(open: faults.open)
        } throws: { error in
            guard case .failingDisk("shop", let reason)? = error as? HubHostError else { return false }
            return reason.contains("the disk is full")
        }
    }

    @Test func whatWaitsIsCounted() throws {
        let folder = try TemporaryFolder()
        let first = try HostStage(in: folder)
        _ = try first.register("a")
        let answer = first.call(
            "POST", "/shop/messages?api-version=2020-06", #"{"message":{}}"#, token: try HostStage.token(of: "shop"),
            headers: ["ServiceBusNotification-Format": "fcmv1"])
        #expect(answer.status == 201 && first.host.waitingCount == 1)
        first.host.stop(within: .seconds(5))
        let second = try HostStage(in: folder)
        #expect(second.host.waitingCount == 1 && second.host.hubCount == 1)
    }

    @Test(arguments: [
        ("127.0.0.1:8800", false), ("localhost:1", false), ("[::1]:1", false), ("0.0.0.0:8800", true), ("[::]:1", true),
        ("hub.example.com:8800", true),
    ])
    func anAddressForOthersWithoutTLSIsExposed(listen: String, isExposed: Bool) {
        var configuration = HubsConfiguration()
        configuration.listen = listen
        #expect(configuration.isExposed == isExposed)
        configuration.trustsForwardedProto = true
        #expect(!configuration.isExposed)
        configuration.trustsForwardedProto = false
        configuration.tls = .init(certificateFile: "a", keyFile: "b")
        #expect(!configuration.isExposed)
    }

    @Test func timesAreTakenWhereAKeyCannotBeMade() throws {
        let faults = Faults()
        let stage = try HostStage(open: faults.open)
        faults.writing.withLock { $0 = ["shop": "the disk is full"] }
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder)])
        settings.listen = "127.0.0.1:0"
        (settings.hubs[0].makesPolicy, settings.hubs[0].messageLifetime) = (true, .seconds(60))
        stage.host.take(settings)
        #expect(stage.host.dispatchTerms(of: "shop")?.messageLifetime == .seconds(60))
        #expect(try stage.register("phone").status == 200)
        #expect(stage.lines.all.contains { $0.contains("shop, policies") })
    }

    /// A call without a Host field learns of what it wrote by a link to the address that is served.
    @Test func linksNameTheAddressThatIsServed() throws {
        let stage = try HostStage { $0.listen = "127.0.0.1:4700" }
        var settings = HubsConfiguration(hubs: [HostStage.hub("shop", in: stage.folder)])
        settings.listen = "127.0.0.1:4701"
        stage.host.take(settings)
        let request = HTTPServerRequest(
            method: "POST", target: "/shop/registrationids?api-version=2020-06",
            headers: ["Authorization": try HostStage.token(of: "shop")])
        let answer = stage.host.handle(request)
        #expect(answer.headers["Location"]?.hasPrefix("http://127.0.0.1:4700/shop/registrationids/") == true)
    }

    /// Each waits for the other.
    @Test(.tags(.threads)) func hubsEndBesideEachOther() throws {
        let closed = ["shop": DispatchSemaphore(value: 0), "news": DispatchSemaphore(value: 0)]
        let late = Mutex<[String]>([])
        let stage = try HostStage(
            ["shop", "news"],
            open: { (hub, metrics, clock) throws(HubHostError) in
                let parts = try HubParts.open(hub, metrics: metrics, clock: clock)
                return HubParts(
                    devices: parts.devices, journal: parts.journal, jobs: parts.jobs, counts: parts.counts, value: parts.value,
                    setValue: parts.setValue,
                    close: {
                        closed[hub.name]?.signal()
                        let isThere = closed[hub.name == "shop" ? "news" : "shop"]?.wait(timeout: .now() + .seconds(20))
                        if isThere != .success { late.withLock { $0.append(hub.name) } }
                        parts.close()
                    })
            })
        _ = try stage.host.start()
        stage.host.stop(within: .seconds(5))
        #expect(late.withLock { $0 } == [])
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
