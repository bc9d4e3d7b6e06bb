import DoorStage
@testable import AppAPI
import DeviceHubs
import FanOut
import HubREST
import PushModel
import Testing

struct RegistrarTests {
    private let people: People
    private static let token = "6F2A01FF"
    private static let other = "00AA11BB"

    init() throws {
        people = try People()
    }

    private func body(_ handle: String = token, _ tags: [String] = [], on platform: Platform = .apple) -> RegisterBody {
        RegisterBody(platform: platform, handle: handle, tags: tags)
    }

    private func create(_ handle: String?, as user: UserTag, newID: String = "new") throws -> Registrar {
        let known = try handle.map { try HandleQuery($0) }
        return .creating(for: known, newID: newID, user: user, rules: people.rules)
    }

    private func put(_ id: String, _ body: RegisterBody, as user: UserTag) -> Registrar {
        .writing(id, body: body, user: user, rules: people.rules)
    }

    private func delete(_ id: String, as user: UserTag) -> Registrar {
        .removing(id, user: user, rules: people.rules)
    }

    /// A hub with one phone of alice's under the id `a`.
    private func hubWithPhone(_ tags: [String] = []) -> ModelHub {
        var hub = ModelHub()
        _ = hub.run(put("a", body(Self.token, tags), as: people.alice))
        return hub
    }

    // MARK: POST

    @Test func withoutAHandleTheIDIsNewAndTheHubIsNotAsked() throws {
        var hub = ModelHub()
        #expect(try hub.run(create(nil, as: people.alice)) == .id("new"))
        #expect(hub.calls.isEmpty)
    }

    @Test func aHandleThatNobodyHasGetsANewID() throws {
        var hub = hubWithPhone()
        #expect(try hub.run(create(Self.other, as: people.alice)) == .id("new"))
        #expect(hub.names == ["find"])
    }

    @Test(arguments: ["6F2A01FF", "<6f2a 01ff>"]) func aReinstalledAppGetsItsOldID(_ handle: String) throws {
        var hub = hubWithPhone()
        #expect(try hub.run(create(handle, as: people.alice)) == .id("a"))
        #expect(hub.calls == [.find(handle: Self.token, platform: .apple)])
    }

    @Test func aHandleOfAnotherKindIsLookedForOnEveryPlatform() throws {
        var hub = ModelHub()
        _ = hub.run(put("f", body("cd:APA91", on: .fcmv1), as: people.alice))
        #expect(try hub.run(create("cd:APA91", as: people.alice)) == .id("f"))
        #expect(hub.calls == [.find(handle: "cd:APA91", platform: nil)])
    }

    @Test func ofSeveralRegistrationsOneInstallationStaysAndTemplatesOfAppsDo() throws {
        var hub = ModelHub()
        for id in ["a", "b"] {
            hub.installations[id] = Installation(
                id: id, platform: .known(.apple), pushChannel: Self.token, tags: [id == "b" ? "username:alice" : "username:bob"])
        }
        hub.registrations = [
            DeviceRegistration(id: "1", etag: "7", platform: .apple, handle: Self.token, tags: ["username:alice"]),
            DeviceRegistration(id: "2", platform: .apple, kind: .template(name: "news"), handle: Self.token, tags: ["World"]),
        ]
        #expect(try hub.run(create(Self.token, as: people.alice)) == .id("b"))
        #expect(Array(hub.installations.keys) == ["b"])
        #expect(hub.registrations.map(\.id) == ["2"])
        #expect(hub.calls.contains(.removeRegistration(id: "1", etag: "7")))
    }

    /// A hub that passes over the filter would otherwise lose every device.
    @Test func registrationsOfOtherHandlesAreLeftAlone() throws {
        let strangers = [
            DeviceRegistration(id: "1", platform: .apple, handle: Self.other),
            DeviceRegistration(id: "2", platform: .apple, handle: Self.other, tags: ["$InstallationId:{z}"]),
        ]
        var registrar = try create(Self.token, as: people.alice)
        #expect(registrar.start() == .ask(.find(handle: Self.token, platform: .apple)))
        #expect(registrar.next(after: .registrations(strangers)) == .end(.id("new")))
    }

    // MARK: PUT

    @Test func theFirstLoginMakesFourCallsAndAnUnchangedOneTwo() throws {
        var hub = ModelHub()
        let first = try hub.run(create(Self.token, as: people.alice, newID: "a"))
        var count = hub.calls.count
        #expect(first == .id("a"))
        #expect(hub.run(put("a", body(Self.token, ["World"]), as: people.alice)) == .done)
        count += hub.calls.count
        #expect(count == 4 && hub.names == ["read", "find", "write"])
        let kept = try #require(hub.installations["a"])
        #expect(kept.tags == ["username:alice", "World"] && kept.userID == "alice" && kept.pushChannel == Self.token)
        for _ in 0..<100 {
            #expect(hub.run(put("a", body(Self.token, ["world"]), as: people.alice)) == .done)
            #expect(hub.names == ["read", "find"])
        }
        #expect(hub.installations == ["a": kept])
    }

    @Test func aChangedTokenMakesThreeCallsAndTakesTheOldOnesPlace() {
        var hub = hubWithPhone()
        #expect(hub.run(put("a", body(Self.other), as: people.alice)) == .done)
        #expect(hub.names == ["read", "find", "write"])
        #expect(hub.installations["a"]?.pushChannel == Self.other && hub.installations.count == 1)
    }

    @Test(arguments: [[], ["World"], ["World", "Science"]]) func changedTagsAreWritten(_ tags: [String]) {
        var hub = hubWithPhone(["Politics"])
        #expect(hub.run(put("a", body(Self.token, tags), as: people.alice)) == .done)
        #expect(hub.installations["a"]?.tags == ["username:alice"] + tags)
    }

    @Test func aStaleIDHeals() {
        var hub = ModelHub()
        for id in ["0b5c1d4e-0000-4000-8000-000000000001", "8247220326459738692-7748251457295609952-3"] {
            #expect(hub.run(put(id, body(), as: people.alice)) == .done)
            #expect(hub.installations[id] != nil)
            hub.installations = [:]
        }
    }

    @Test func anotherUsersIDIsNotFoundWithoutTheHandleAndStaysAsItIs() {
        var hub = hubWithPhone()
        let before = hub.installations
        #expect(hub.run(put("a", body(Self.other), as: people.bob)) == .notFound)
        #expect(hub.installations == before && hub.names == ["read"])
    }

    @Test func whoeverHoldsTheDeviceTakesItOver() throws {
        var hub = hubWithPhone(["World"])
        hub.installations["a"]?.templates = JSONObjectText(#"{"t":{"body":"$(m)","tags":["username:alice"]}}"#)
        #expect(try hub.run(create(Self.token, as: people.bob)) == .id("a"))
        #expect(hub.run(put("a", body(Self.token, ["Science"]), as: people.bob)) == .done)
        let kept = try #require(hub.installations["a"])
        #expect(kept.tags == ["username:bob", "Science"] && kept.userID == "bob" && kept.templates == nil)
        #expect(hub.run(put("a", body(Self.other), as: people.alice)) == .notFound)
    }

    @Test func theUsersOwnTemplatesAreKept() {
        var hub = hubWithPhone()
        let templates = JSONObjectText(#"{"t":{"body":"$(m)"}}"#)
        hub.installations["a"]?.templates = templates
        #expect(hub.run(put("a", body(Self.other), as: people.alice)) == .done)
        #expect(templates != nil && hub.installations["a"]?.templates == templates)
    }

    @Test func theTemplatesOfABodyTakeThePlaceOfTheOld() {
        var hub = hubWithPhone()
        hub.installations["a"]?.templates = JSONObjectText(#"{"t":{"body":"old"}}"#)
        let new = DeviceTemplates(["u": .init(body: "new")])
        let wanted = RegisterBody(platform: .apple, handle: Self.token, templates: new)
        #expect(hub.run(put("a", wanted, as: people.alice)) == .done)
        #expect(DeviceTemplates(hub.installations["a"]?.templates) == new)
        #expect(hub.run(put("a", wanted, as: people.alice)) == .done && hub.names == ["read", "find"])
        let none = RegisterBody(platform: .apple, handle: Self.token, templates: DeviceTemplates())
        #expect(hub.run(put("a", none, as: people.alice)) == .done && hub.installations["a"]?.templates == nil)
    }

    @Test func theRestOfTheHandleIsRemovedAfterTheWrite() {
        var hub = hubWithPhone()
        hub.registrations = [
            DeviceRegistration(id: "1", platform: .apple, handle: Self.token, tags: ["username:alice"]),
            DeviceRegistration(id: "2", platform: .apple, kind: .template(name: nil), handle: Self.token),
        ]
        #expect(hub.run(put("b", body(), as: people.alice)) == .done)
        #expect(hub.names == ["read", "find", "write", "remove an installation", "remove a registration"])
        #expect(Array(hub.installations.keys) == ["b"] && hub.registrations.map(\.id) == ["2"])
    }

    @Test func anInstallationWhoseHandleDiedIsWrittenAgain() {
        var hub = hubWithPhone()
        hub.installations["a"]?.isChannelExpired = true
        #expect(hub.run(put("a", body(), as: people.alice)) == .done)
        #expect(hub.names == ["read", "find", "write"])
    }

    @Test(arguments: ["", "..", "a b", "a/b", String(repeating: "x", count: 121), "é"])
    func anIDThatCannotBeIsNotFoundAndNotAskedFor(_ id: String) {
        var hub = ModelHub()
        #expect(hub.run(put(id, body(), as: people.alice)) == .notFound)
        #expect(hub.run(delete(id, as: people.alice)) == .done)
        #expect(hub.calls.isEmpty)
    }

    // MARK: DELETE

    @Test func theOwnerRemovesADeviceAndMayDoItTwice() {
        var hub = hubWithPhone()
        #expect(hub.run(delete("a", as: people.alice)) == .done)
        #expect(hub.installations.isEmpty && hub.names == ["read", "remove an installation"])
        #expect(hub.run(delete("a", as: people.alice)) == .done)
        #expect(hub.names == ["read"])
    }

    @Test func anotherUsersDeviceCannotBeRemoved() {
        var hub = hubWithPhone()
        #expect(hub.run(delete("a", as: people.bob)) == .notFound)
        #expect(hub.installations["a"] != nil)
    }

    /// The hubs of a spread, of which one has a device of bob's under an id that alice has at another.
    @Test func eachCopyIsJudged() {
        let copies = [(Self.token, people.alice), (Self.other, people.bob)].map { handle, user in
            Installation(id: "a", platform: .known(.apple), pushChannel: handle, tags: [user.text], userID: user.form)
        }
        for all in [copies, copies.reversed()] {
            for one in [put("a", body(), as: people.alice), delete("a", as: people.alice)] {
                var registrar = one
                _ = registrar.start()
                #expect(registrar.next(after: .installations(all)) == .end(.notFound))
            }
        }
    }

    @Test func reservedTagsOfABackEndStay() {
        var hub = hubWithPhone(["World"])
        hub.installations["a"]?.tags.append("Staff")
        #expect(hub.run(put("a", body(Self.token, ["News"]), as: people.alice)) == .done)
        #expect(hub.installations["a"]?.tags == ["username:alice", "News", "Staff"])
        #expect(hub.run(put("a", body(Self.token, ["news"]), as: people.alice)) == .done && hub.names == ["read", "find"])
        #expect(hub.run(put("a", body(), as: people.bob)) == .done)
        #expect(hub.installations["a"]?.tags == ["username:bob"])
    }

    // MARK: Failures

    @Test(arguments: ["read", "find", "write", "remove an installation"])
    func everyFailureOfTheHubIsTold(kind: String) {
        let failure = RegistrationFailure(.refused, code: .hubForbidden)
        var hub = hubWithPhone()
        hub.failure = (kind, .failed(failure))
        #expect(hub.run(put("b", body(), as: people.alice)) == .failed(failure))
        #expect(hub.names.last == kind)
    }

    @Test func aRegistrationThatChangedMeanwhileIsLeftAlone() {
        var failure = RegistrationFailure(.refused, code: .payloadRejected)
        failure.status = 412
        var hub = ModelHub()
        hub.registrations = [DeviceRegistration(id: "1", etag: "7", platform: .apple, handle: Self.token)]
        hub.failure = ("remove a registration", .failed(failure))
        #expect(hub.run(put("a", body(), as: people.alice)) == .done)
        hub.failure = ("write", .failed(failure))
        #expect(hub.run(put("a", body(Self.other), as: people.alice)) == .failed(failure))
    }

    @Test func theReplyToAnotherCallIsAFailure() {
        var registrar = put("a", body(), as: people.alice)
        _ = registrar.start()
        guard case .end(.failed) = registrar.next(after: .done) else {
            Issue.record("it went on")
            return
        }
    }

    @Test func noHandleIsShown() throws {
        let canary = "CAFEBABE"
        let registrar = put("a", body(canary), as: people.alice)
        let call = Registrar.Call.find(handle: canary, platform: .apple)
        let handle = try HandleQuery(canary)
        for value in [registrar, body(canary), call, Registrar.Step.ask(call), handle] as [any Sendable] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains(canary)) }
        }
    }
}
