import Basics
import HTTPServing
import PushModel
import Testing

@testable import HubEmulator
@testable import HubServer

/// Lists that are longer than a page.
struct ReportPageTests {
    /// Positions that count how many of them were taken.
    private final class Positions: Sequence, IteratorProtocol {
        private let end: Int
        private(set) var takenCount = 0

        init(_ end: Int) { self.end = end }

        func next() -> Int? {
            guard takenCount < end else { return nil }
            takenCount += 1
            return takenCount - 1
        }
    }

    private struct Page {
        let items: [(handle: String, bodies: [String], shown: [String])]
        let next: String?
        let total: String?
    }

    private func log(devices: Int, rings: Int) -> DeviceLog {
        var log = DeviceLog(capacity: devices * rings)
        for device in 0..<devices {
            let key = DeviceKey(platform: .apple, handle: "\(device)")
            for ring in 0..<rings { log.ring(Self.ring(ring), on: key, handle: key.handle) }
        }
        return log
    }

    private static func ring(_ number: Int, collapsedBy key: String? = nil) -> RingReport {
        RingReport(
            notificationID: "", callID: number, milliseconds: 0, format: "apple", template: nil, bytes: [], headers: [:],
            collapseKey: key)
    }

    private func get(_ hub: TestHub, _ target: String) -> HTTPServerResponse {
        hub.hub.handle(HTTPServerRequest(method: "GET", target: target))
    }

    /// The place to which an answer leads on.
    private func next(after response: HTTPServerResponse) throws -> String? {
        guard let link = response.headers["Link"] else { return nil }
        #expect(link.hasPrefix("<") && link.hasSuffix(">; rel=\"next\""))
        return String(link.dropFirst().prefix { $0 != ">" })
    }

    private func page(_ response: HTTPServerResponse) throws -> Page {
        var document = JSONDocument()
        try document.read(response.body.span)
        func texts(_ name: StaticString, of node: JSONDocument.Node) -> [String] {
            var texts: [String] = []
            guard let list = document.member(name, of: node) else { return [] }
            document.forEachElement(of: list) { ring in
                if let body = document.member("body", of: ring) { texts.append(document.string(document.text(of: body))) }
            }
            return texts
        }
        var items: [(String, [String], [String])] = []
        document.forEachElement(of: document.root) { device in
            let handle = document.member("handle", of: device).map { document.string(document.text(of: $0)) } ?? ""
            items.append((handle, texts("rung", of: device), texts("visible", of: device)))
        }
        return Page(items: items, next: try next(after: response), total: response.headers["X-Total-Count"])
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func pagesOfDevicesHaveEachRingOnce(_ limit: Int) throws {
        let hub = try TestHub()
        for name in ["a", "b", "c"] { try hub.register(name, "apns", tags: [name, "all"]) }
        try hub.register("silent", "apns", tags: ["all"])
        for number in 0..<5 { try hub.send("apple", to: "b", #"{"n":\#(number)}"#, ["apns-collapse-id": "c\(number % 2)"]) }
        try hub.send("apple", to: "c", #"{"n":9}"#)
        for condition in ["", "&tag=ALL"] {
            var (rung, shown): ([String], [String]) = ([], [])
            var handles: [String] = []
            var target: String? = "/devices?limit=\(limit)\(condition)"
            while let place = target {
                let page = try page(get(hub, place))
                #expect(page.total == "4")
                #expect((1...limit).contains(page.items.count) && page.items.map(\.bodies.count).reduce(0, +) <= limit)
                for item in page.items {
                    if handles.last != item.handle { handles.append(item.handle) }
                    rung += item.bodies
                    shown += item.shown
                }
                target = page.next
            }
            #expect(handles == ["handle-a", "handle-b", "handle-c", "handle-silent"])
            #expect(rung == [0, 1, 2, 3, 4, 9].map { #"{"n":\#($0)}"# })
            #expect(shown == [3, 4, 9].map { #"{"n":\#($0)}"# })
        }
        #expect(
            try next(after: get(hub, "/devices?limit=1&handle=handle-b&tag=b"))
                == "/devices?after=1.1&handle=handle-b&tag=b&limit=1")
    }

    @Test(arguments: [1, 3, 100])
    func pagesOfCallsHaveEachCallOnce(_ limit: Int) throws {
        let hub = try TestHub()
        for _ in 0..<7 { try hub.send("apple") }
        var ids: [Int] = []
        var target: String? = "/calls?limit=\(limit)"
        while let place = target {
            let response = get(hub, place)
            var document = JSONDocument()
            try document.read(response.body.span)
            #expect((1...limit).contains(document.childCount(of: document.root)) && response.headers["X-Total-Count"] == "7")
            document.forEachElement(of: document.root) { call in
                if let id = document.member("id", of: call) { ids.append(Int(document.string(document.text(of: id))) ?? 0) }
            }
            target = try next(after: response)
        }
        #expect(ids == Array(1...7))
    }

    @Test func pagesHaveAUsualAndALargestSize() throws {
        let hub = try TestHub { $0.recording = .light }
        for number in 0..<10_001 {
            try hub.hub.register(EmulatedDevice(id: "i\(number)", platform: "gcm", handle: "h\(number)"))
        }
        #expect(try page(get(hub, "/devices")).items.count == 1_000)
        let largest = try page(get(hub, "/devices?limit=1000000"))
        #expect(largest.items.count == 10_000 && largest.next == "/devices?after=10000&limit=1000000")
        #expect(try page(get(hub, "/devices?after=10000")).next == nil)
        #expect(hub.hub.devices().count == 10_001)
        #expect(try page(get(hub, "/devices?limit=0")).items.isEmpty && get(hub, "/devices?limit=0").headers["Link"] == nil)
    }

    @Test(arguments: [
        "after=", "after=x", "after=-1", "after=+1", "after=1.", "after=.1", "after=1.2.3", "after=1.-2",
        "after=99999999999999999999",
        "after=%D9%A1", "limit=-1", "limit=x", "limit=",
    ])
    func placesThatNoLinkHasAreRefused(_ query: String) throws {
        #expect(get(try TestHub(), "/devices?\(query)").status == 400)
    }

    @Test(arguments: ["999999999", "999999999.999999999", "0.999999999", "1.1"])
    func placesThatAreNoLongerThereHaveNothingBehindThem(_ after: String) throws {
        let hub = try TestHub()
        try hub.register("a", "apns")
        try hub.send("apple")
        let page = try page(get(hub, "/devices?after=\(after)"))
        #expect(page.next == nil && page.items.allSatisfy(\.bodies.isEmpty))
    }

    @Test(arguments: [(10, 1), (10_000, 1), (10, 100), (1_000, 100)], [1, 8])
    func aPageCostsNoMoreWhenMoreIsKept(_ kept: (devices: Int, rings: Int), _ limit: Int) {
        let log = log(devices: kept.devices, rings: kept.rings)
        let positions = Positions(kept.devices)
        let (page, next) = log.page(of: positions, from: .start, limit: limit)
        #expect(positions.takenCount <= limit + 1 && next != nil)
        #expect(page.count <= limit && page.map(\.rung.count).reduce(0, +) == limit)
    }

    @Test func whatIsSeenIsKnownWithoutReadingAllThatRang() throws {
        var log = DeviceLog(capacity: 4)
        let key = DeviceKey(platform: .apple, handle: "h")
        for (number, collapse) in [nil, "x", "y", "x", nil, "y", "x"].enumerated() {
            log.ring(Self.ring(number, collapsedBy: collapse), on: key, handle: "h")
        }
        let piece = try #require(log.page(of: [0], from: .start, limit: .max).page.first)
        #expect(piece.rung.map(\.callID) == [3, 4, 5, 6] && piece.areShown == [false, true, true, true])
        #expect(piece.visibleCount == 3 && piece.rungCount == 7)
        for number in 7..<11 { log.ring(Self.ring(number), on: key, handle: "h") }
        #expect(log.page(of: [0], from: .start, limit: .max).page.first?.visibleCount == 4)
        log.reset()
        let empty = try #require(log.page(of: [0], from: DeviceCursor(deviceCount: 0, ringCount: 5), limit: 9).page.first)
        #expect(empty.rung.isEmpty && empty.visibleCount == 0 && empty.rungCount == 0)
    }

    @Test func callsThatAreRecordedLateStandAtTheirPlace() {
        var queue = NewestValues<Int>(capacity: 4)
        for value in [1, 3, 2, 6, 5, 4] { queue.insert(value, by: <) }
        #expect(queue.elements == [3, 4, 5, 6])
        #expect(
            queue.firstPosition { $0 > 4 } == 2 && queue.firstPosition { $0 > 6 } == 4 && queue.firstPosition { _ in true } == 0)
    }
}
