@testable import DeviceAPI
import DeviceHubs
import DoorStage
import FanOut
import GatewayAPI
import HubREST
import PushModel
import Testing

struct DeviceDeskTests {
    private let parties: DeviceParties

    init() throws { parties = try DeviceParties() }

    private func desk(_ purpose: DeviceDesk.Purpose, as rights: DeviceRights, on id: String = "a") -> DeviceDesk {
        DeviceDesk(purpose, on: id, for: rights)
    }

    private func device(_ handle: String, of user: UserTag? = nil, tags: [String] = []) -> DeviceBody {
        DeviceBody(platform: .fcmv1, handle: handle, user: user, tags: tags)
    }

    /// A hub with a phone of alice's under the id `a`.
    private func hubWithPhone(tags: [String] = []) -> LateHub {
        var hub = LateHub()
        _ = hub.run(desk(.put(device("h", of: parties.people.alice, tags: tags)), as: parties.alice), on: "a")
        return hub
    }

    private func shown(_ ending: DeviceDesk.Ending) throws -> Installation {
        guard case .shown(let installation, _) = ending else {
            Issue.record("it ended otherwise")
            throw APIProblem.notFound
        }
        return installation
    }

    // MARK: Put

    @Test func aDeviceIsWrittenWithItsUserTwice() throws {
        var hub = LateHub()
        var body = device("h", of: parties.people.alice, tags: ["World"])
        body.templates = DeviceTemplates(["news": .init(body: "$(m)")])
        body.expiresAt = Timestamp(milliseconds: 1_893_456_000_000)
        let installation = try shown(hub.run(desk(.put(body), as: parties.backEnd), on: "a"))
        #expect(hub.calls == ["read", "find", "write", "find rivals"])
        #expect(installation == hub.truth["a"] && installation.userID == "alice")
        #expect(installation.tags == ["username:alice", "World"])
        #expect(installation.expirationTime == "2030-01-01T00:00:00.000Z")
        #expect(DeviceTemplates(installation.templates) == body.templates)
    }

    @Test func aBackEndRegistersDevicesOfNobody() throws {
        var hub = LateHub()
        let installation = try shown(hub.run(desk(.put(device("h")), as: parties.backEnd), on: "a"))
        #expect(installation.userID == nil && installation.tags.isEmpty)
    }

    @Test func aHandleMovesAndWhoLostItIsNamedToABackEnd() {
        for (rights, user) in [(parties.backEnd, "alice"), (parties.bob, nil)] {
            var hub = hubWithPhone()
            hub.natives = [
                DeviceRegistration(id: "1", etag: "7", platform: .fcmv1, handle: "h"),
                DeviceRegistration(id: "2", platform: .fcmv1, kind: .template(name: nil), handle: "h"),
            ]
            let ending = hub.run(desk(.put(device("h", of: parties.people.bob)), as: rights, on: "b"), on: "b")
            guard case .shown(_, let moved) = ending else {
                Issue.record("it ended otherwise")
                continue
            }
            #expect(moved == [.init(id: "a", user: user)])
            #expect(Array(hub.truth.keys) == ["b"] && hub.natives.map(\.id) == ["2"])
        }
    }

    @Test func anotherUsersInstallationIsNotThere() {
        let purposes: [DeviceDesk.Purpose] = [
            .show, .put(device("other", of: parties.people.bob)), .remove, .addTag("t"), .removeTag("t"),
        ]
        for purpose in purposes {
            var hub = hubWithPhone()
            let before = hub.truth
            #expect(hub.run(desk(purpose, as: parties.bob), on: "a") == .refused(.notFound))
            #expect(hub.truth == before && hub.calls == ["read"])
        }
    }

    @Test func whoeverHoldsTheDeviceTakesItOverAndNothingOfTheOtherIsKept() throws {
        var hub = hubWithPhone(tags: ["World"])
        var old = try #require(hub.truth["a"])
        old.secondaryTiles = JSONObjectText(#"{"t":{"pushChannel":"h","tags":["username:alice"]}}"#)
        hub.add(old)
        hub.memory.keep(old, as: "a", at: "main", over: hub.shown["a"])
        let new = try shown(hub.run(desk(.put(device("h", of: parties.people.bob)), as: parties.bob), on: "a"))
        #expect(new.tags == ["username:bob"] && new.userID == "bob" && new.secondaryTiles == nil)
        #expect(hub.run(desk(.show, as: parties.alice), on: "a") == .refused(.notFound))
    }

    /// The hubs of a spread, of which one has a device of bob's under an id that alice has at another.
    @Test func eachCopyIsJudged() throws {
        let copies = [("mine", parties.people.alice), ("theirs", parties.people.bob)].map { handle, user in
            Installation(id: "a", platform: .known(.fcmv1), pushChannel: handle, tags: [user.text], userID: user.form)
        }
        let purposes: [DeviceDesk.Purpose] = [
            .show, .remove, .addTag("t"), .removeTag("t"), .put(device("mine", of: parties.people.alice)),
            .change(try parties.patch(#"[{"op":"remove","path":"/tags"}]"#, for: parties.alice)),
        ]
        for purpose in purposes {
            for all in [copies, copies.reversed()] {
                var desk = desk(purpose, as: parties.alice)
                #expect(desk.start() == .ask(.read))
                #expect(desk.next(after: .installations(all)) == .end(.refused(.notFound)))
            }
        }
        // Whoever holds the device takes over the copy that an earlier call has left.
        var desk = desk(.put(device("theirs", of: parties.people.alice)), as: parties.alice)
        _ = desk.start()
        #expect(desk.next(after: .installations(copies)) == .ask(.find(handle: "theirs", platform: .fcmv1)))
    }

    // MARK: Other gateways

    @Test func whatAnotherGatewayHasDoneSinceCounts() throws {
        let patch = #"[{"op":"add","path":"/expires_at","value":"2030-01-01T00:00:00Z"}]"#
        var taken = hubWithPhone(tags: ["World"])
        taken.changeElsewhere { $0["a"]?.set(tags: [], owner: DeviceOwner(parties.people.bob)) }
        #expect(try change(patch, in: &taken) == .refused(.notFound) && taken.truth["a"]?.userID == "bob")
        var erased = hubWithPhone()
        _ = erased.run(desk(.show, as: parties.alice), on: "a")
        erased.changeElsewhere { $0["a"] = nil }
        #expect(try change(patch, in: &erased) == .refused(.notFound) && erased.truth.isEmpty)
        var tagged = hubWithPhone(tags: ["World"])
        tagged.changeElsewhere { $0["a"]?.tags.append("News") }
        #expect(try shown(change(patch, in: &tagged)).tags == ["username:alice", "World", "News"])
    }

    @Test func aTagThatTheMemoryHasNotIsRemovedAllTheSame() {
        var hub = hubWithPhone()
        #expect(hub.run(desk(.removeTag("t"), as: parties.alice), on: "a") != .refused(.notFound))
        #expect(hub.calls == ["read", "patch"])
    }

    // MARK: Reserved tags

    @Test func reservedTagsOfABackEndStayWhateverAUserWrites() throws {
        var hub = LateHub()
        let set = device("h", of: parties.people.alice, tags: ["Staff", "World"])
        _ = hub.run(desk(.put(set), as: parties.backEnd), on: "a")
        let kept = ["username:alice", "News", "Staff"]
        var body = device("h", of: parties.people.alice, tags: ["News"])
        #expect(try shown(hub.run(desk(.put(body), as: parties.alice), on: "a")).tags == kept)
        let json = #"{"platform":"fcmv1","handle":"h","tags":["News","staff"]}"#
        body = try parties.body(json, for: parties.alice)
        #expect(try shown(hub.run(desk(.put(body), as: parties.alice), on: "a")).tags == ["username:alice", "News", "staff"])
        #expect(
            try shown(change(#"[{"op":"remove","path":"/tags"}]"#, in: &hub)).tags == ["username:alice", "staff"])
        guard case .refused(let problem) = hub.run(desk(.removeTag("STAFF"), as: parties.alice), on: "a") else {
            Issue.record("it was removed")
            return
        }
        #expect(problem.status == 400)
        let freed = try shown(change(#"[{"op":"remove","path":"/tags/staff"}]"#, as: parties.backEnd, in: &hub))
        #expect(freed.tags == ["username:alice"])
    }

    @Test func aReservedTagThatTheDeviceHasNotIsRefused() throws {
        var hub = hubWithPhone()
        let json = #"{"platform":"fcmv1","handle":"h","tags":["News","staff"]}"#
        let body = try parties.body(json, for: parties.alice)
        for id in ["a", "new"] {
            guard case .refused(let problem) = hub.run(desk(.put(body), as: parties.alice, on: id), on: id) else {
                Issue.record("it was written")
                return
            }
            #expect(problem.status == 400 && problem.faults.map(\.pointer) == ["/tags/1"])
        }
    }

    // MARK: Patch

    private func change(_ json: String, as rights: DeviceRights? = nil, in hub: inout LateHub) throws -> DeviceDesk.Ending {
        let rights = rights ?? parties.alice
        return hub.run(desk(.change(try parties.patch(json, for: rights)), as: rights), on: "a")
    }

    @Test func tagsAreChangedByTheHubItself() throws {
        var hub = hubWithPhone(tags: ["World"])
        let json = #"[{"op":"add","path":"/tags/News"},{"op":"remove","path":"/tags/world"},{"op":"remove","path":"/tags/none"}]"#
        #expect(try shown(change(json, in: &hub)).tags == ["username:alice", "News"])
        #expect(hub.calls == ["read", "patch"] && hub.truth["a"]?.tags == ["username:alice", "News"])
    }

    @Test func otherChangesAreWrittenWhole() throws {
        var hub = hubWithPhone(tags: ["World"])
        let json = """
            [{"op":"add","path":"/templates/t","value":{"body":"b"}},{"op":"replace","path":"/templates/t/body","value":"c"},
             {"op":"replace","path":"/handle","value":"i"},{"op":"replace","path":"/tags","value":["A","B"]}]
            """
        let installation = try shown(change(json, in: &hub))
        #expect(hub.calls == ["read", "find", "write", "find rivals"])
        #expect(installation.pushChannel == "i" && installation.tags == ["username:alice", "A", "B"])
        #expect(DeviceTemplates(installation.templates).all == ["t": .init(body: "c")])
    }

    @Test func aBackEndGivesADeviceToAnotherUser() throws {
        var hub = hubWithPhone(tags: ["World"])
        let json = #"[{"op":"add","path":"/user","value":"bob"}]"#
        let patch = try parties.patch(json, for: parties.backEnd)
        #expect(desk(.change(patch), as: parties.backEnd).user == parties.people.bob)
        let installation = try shown(change(json, as: parties.backEnd, in: &hub))
        #expect(installation.tags == ["username:bob", "World"] && installation.userID == "bob")
        let freed = try shown(change(#"[{"op":"remove","path":"/user"}]"#, as: parties.backEnd, in: &hub))
        #expect(freed.tags == ["World"] && freed.userID == nil)
    }

    @Test(
        arguments: [
            (#"[{"op":"add","path":"/tags/username:bob"}]"#, "/0/path"), (#"[{"op":"add","path":"/tags/staff"}]"#, "/0/path"),
            (#"[{"op":"remove","path":"/tags/username:alice"}]"#, "/0/path"),
            (#"[{"op":"replace","path":"/tags","value":["ok","from:x"]}]"#, "/0/value/1"),
            (#"[{"op":"replace","path":"/handle","value":"a b"}]"#, "/0/value"),
            (#"[{"op":"replace","path":"/templates/none/body","value":"b"}]"#, "/0/path"),
        ])
    func theRulesHoldForWhatComesOut(_ json: String, pointer: String) throws {
        var hub = hubWithPhone()
        let before = hub.truth
        guard case .refused(let problem) = try change(json, in: &hub) else {
            Issue.record("it was done")
            return
        }
        #expect(problem.status == 400 && problem.faults.map(\.pointer) == [pointer] && hub.truth == before)
    }

    @Test func aDeviceHasNoMoreTagsThanTheHubTakes() throws {
        var hub = hubWithPhone(tags: (0..<59).map { "t\($0)" })
        guard case .refused(let problem) = hub.run(desk(.addTag("more"), as: parties.alice), on: "a") else {
            Issue.record("it was done")
            return
        }
        #expect(problem.status == 400)
        #expect(try shown(hub.run(desk(.addTag("t1"), as: parties.alice), on: "a")).tags.count == 60)
    }

    // MARK: Other calls

    @Test func whatIsNotThereIsNotFoundAndRemovedAllTheSame() {
        var hub = LateHub()
        for purpose in [DeviceDesk.Purpose.show, .addTag("t"), .removeTag("t")] {
            #expect(hub.run(desk(purpose, as: parties.backEnd), on: "a") == .refused(.notFound))
        }
        #expect(hub.run(desk(.remove, as: parties.alice), on: "a") == .done)
        #expect(hub.run(desk(.remove, as: parties.backEnd), on: "a") == .done)
        #expect(hub.calls == ["remove"])
    }

    @Test func aDeviceThatIsRemovedMeanwhileIsNotFound() {
        var hub = hubWithPhone()
        hub.failure = ("patch", .failed(RegistrationFailure(.absent, code: .hubNotFound)))
        #expect(hub.run(desk(.addTag("t"), as: parties.alice), on: "a") == .refused(.notFound))
    }

    @Test(arguments: ["read", "find", "write", "remove a duplicate"])
    func everyFailureOfTheHubIsTold(_ kind: String) {
        let failure = RegistrationFailure(.refused, code: .hubForbidden)
        var hub = hubWithPhone()
        hub.failure = (kind, .failed(failure))
        let ending = hub.run(desk(.put(device("h")), as: parties.backEnd, on: "b"), on: "b")
        #expect(ending == .failed(failure) && hub.calls.last == kind)
    }

    @Test func anIDThatCannotBeIsKnown() {
        for id in ["", "..", "a b", "a/b", String(repeating: "x", count: 121), String(repeating: "x", count: 4096), "é", "\0"] {
            #expect(!InstallationID.isPossible(id))
        }
        for id in ["a", "0b5c1d4e-0000-4000-8000-000000000001", "a.b"] { #expect(InstallationID.isPossible(id)) }
    }

    @Test func noHandleIsShown() {
        let desk = desk(.put(device("CANARY")), as: parties.backEnd)
        let call = DeviceDesk.Call.find(handle: "CANARY", platform: .adm)
        for value in [desk, call, DeviceDesk.Step.ask(call)] as [any Sendable] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("CANARY")) }
        }
    }
}
