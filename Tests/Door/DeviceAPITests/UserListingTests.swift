import FanOut
import GatewayAPI
import HubREST
import PushModel
import Testing

@testable import DeviceAPI

/// The lists that become a page of a user's devices, and the beginning of the next one.
struct UserListingTests {
    /// Hubs in memory, by their names.
    private typealias Hubs = [String: [DeviceRegistration]]

    private static func devices(
        _ ids: Range<Int>, tags: [String] = ["username:alice", "$UserId:{alice}"]
    ) -> [DeviceRegistration] {
        ids.map { DeviceRegistration(id: "r\($0)", platform: .apple, handle: "62bc", tags: tags) }
    }

    private func listing(_ hubs: [String], from cursor: String? = nil) throws -> UserListing {
        let tag = try UserTag.Pattern("username:{user}").tag(of: "alice")
        let devices = UserDevices(of: "alice", tag: tag, showsHandles: true)
        return try UserListing(devices, of: DeviceUser(tag), at: hubs, from: cursor)
    }

    /// Makes the calls of one page. Returns the ids on it, the cursor behind it, and the number of calls.
    private func page(
        of hubs: Hubs, at names: [String], from cursor: String? = nil
    ) throws -> (ids: [String], next: String?, calls: Int) {
        var (listing, calls) = (try listing(names, from: cursor), 0)
        while let (call, hub) = listing.call {
            calls += 1
            guard case .listTagged(let tag, let count, let token) = call else { break }
            let all = (hubs[names[hub]] ?? []).filter { $0.hasTag(tag) }
            let start = token.flatMap { Int($0.text) } ?? 0
            let end = min(start + count, all.count)
            let next = end < all.count ? RegistrationPage.Token("\(end)") : nil
            listing.take(.page(RegistrationPage(registrations: Array(all[start..<end]), next: next)))
        }
        let text = String(decoding: listing.json, as: UTF8.self)
        return (
            text.matches(of: /"registration_id":"([^"]*)"/).map { String($0.1) },
            text.firstMatch(of: /"next":"([^"]*)"/).map { String($0.1) }, calls
        )
    }

    @Test func aFewDevicesAtAllHubsAreOnePage() throws {
        let hubs = ["eu": Self.devices(0..<3), "us": Self.devices(5..<6) + Self.devices(7..<8, tags: ["$USERID:{Alice}"])]
        let page = try page(of: hubs, at: ["eu", "us"])
        #expect(page.ids == ["r0", "r1", "r2", "r5", "r7"] && page.next == nil && page.calls == 4)
    }

    @Test(arguments: [499, 500, 501, 12_000]) func allDevicesAreOnOnePageEach(count: Int) throws {
        let hubs = ["eu": Self.devices(0..<count), "us": Self.devices(20_000..<20_150)]
        var (ids, pages, cursor): ([String], Int, String?) = ([], 0, nil)
        repeat {
            let page = try page(of: hubs, at: ["eu", "us"], from: cursor)
            #expect(page.ids.count < UserListing.size + 100)
            (ids, pages, cursor) = (ids + page.ids, pages + 1, page.next)
        } while cursor != nil && pages < 100
        #expect(ids == (Array(0..<count) + Array(20_000..<20_150)).map { "r\($0)" })
        #expect(pages <= (count + 150) / UserListing.size + count / 5000 + 2)
    }

    @Test func aHubThatGoesOnWithNothingFillsAPage() throws {
        var (listing, calls) = (try listing(["eu"]), 0)
        while listing.call != nil, calls < 100 {
            calls += 1
            listing.take(.page(RegistrationPage(registrations: [], next: RegistrationPage.Token("\(calls)"))))
        }
        #expect(calls == 50)
    }

    /// A proxy or a hub that passes over the tag would show everybody's devices.
    @Test func otherDevicesAreNotShown() throws {
        var listing = try listing(["eu"])
        let page = RegistrationPage(registrations: Self.devices(0..<1, tags: ["username:bob"]) + Self.devices(1..<2))
        listing.take(.page(page))
        let text = String(decoding: listing.json, as: UTF8.self)
        #expect(text.contains(#""r1""#) && !text.contains(#""r0""#))
    }

    @Test func aCursorOfAnotherListIsRefused() throws {
        let next = try #require(try page(of: ["eu": Self.devices(0..<1000)], at: ["eu"]).next)
        _ = try listing(["eu"], from: next)
        for cursor in ["", "0", "%", "=", "MiAgZXU", "LTEgIGV1", "MCBhJmIgZXU", next + "A"] {
            #expect(throws: APIProblem.badCursor) { try listing(["eu"], from: cursor) }
        }
        #expect(throws: APIProblem.badCursor) { try listing(["us"], from: next) }
    }
}
