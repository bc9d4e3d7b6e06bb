import Delivery
import PushModel
import Testing

struct HubRouterTests {
    private static let names: [(name: String, route: HubRouter.Route)] = [
        ("eu", .hub(0)), ("us", .hub(7)), ("shop", .spread(1)),
    ]

    private static func route(_ router: HubRouter, _ members: String) throws -> Result<HubRouter.Route, HubRouter.Fault> {
        var request = PushRequest()
        let record = #"{"audience":{"broadcast":true},"message":{"title":"T"}\#(members)}"#
        let origin = RecordOrigin(topic: "t", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        let reading = RequestReader().read(Array(record.utf8).span, headers: RecordHeaders(), origin: origin, into: &request)
        try #require(reading == .request)
        let tenant = request.tenant.map { TenantID(request.document.string($0)) } ?? .none
        do throws(HubRouter.Fault) {
            return .success(try router.route(of: request, tenant: tenant))
        } catch {
            return .failure(error)
        }
    }

    static let ways: [(members: String, route: HubRouter.Route?)] = [
        ("", .hub(0)), (#","hub":"us""#, .hub(7)), (#","hub":"shop""#, .spread(1)), (#","hub":"asia""#, nil),
        (#","tenant":"acme""#, .hub(7)), (#","tenant":"globex""#, .spread(1)), (#","tenant":"other""#, .hub(0)),
        (#","tenant":"acme","hub":"eu""#, .hub(0)), (#","tenant":"lost""#, nil), (#","tenant":"lost","hub":"eu""#, .hub(0)),
    ]

    @Test(arguments: ways) func aRequestGoesToItsHubElseItsTenantsElseTheDefault(_ members: String, _ route: HubRouter.Route?)
        throws
    {
        let router = HubRouter(
            Self.names, tenants: ["acme": "us", "globex": "shop", "lost": "gone"], defaultName: "eu")
        #expect(try Self.route(router, members) == (route.map { .success($0) } ?? .failure(.unknown)))
    }

    @Test func withoutADefaultWhatNamesNoHubHasNoWay() throws {
        let router = HubRouter(Self.names, defaultName: nil)
        #expect(try Self.route(router, "") == .failure(.unnamed))
        #expect(try Self.route(router, #","tenant":"acme""#) == .failure(.unnamed))
        #expect(try Self.route(router, #","hub":"us""#) == .success(.hub(7)))
    }

    @Test func aDefaultThatIsNotThereIsUnknown() throws {
        #expect(try Self.route(HubRouter(Self.names, defaultName: "gone"), "") == .failure(.unknown))
    }

    @Test(arguments: [("eu", .hub(0)), ("EU", nil), ("e", nil), ("eu ", nil), ("", nil)] as [(String, HubRouter.Route?)])
    func aNameIsKnownLetterByLetter(_ name: String, _ route: HubRouter.Route?) {
        #expect(HubRouter(Self.names, defaultName: nil).route(named: name) == route)
    }

    @Test func eachOfManyNamesLeadsToItsHub() {
        let names = (0..<256).map { (name: "hub-\($0)", route: HubRouter.Route.hub($0)) }
        let router = HubRouter(names, defaultName: nil)
        #expect(names.allSatisfy { router.route(named: $0.name) == $0.route })
        #expect(router.route(named: "hub-256") == nil)
    }
}
