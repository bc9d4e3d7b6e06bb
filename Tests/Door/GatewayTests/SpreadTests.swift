import DeviceHubs
import HubEmulator
import HubREST
import TestSupport
import Testing

/// Devices of users who share several hubs: each is where the sender looks for it, and nowhere else.
@Suite(.tags(.threads)) struct SpreadTests {
    @Test(arguments: [0, 1]) func aDeviceIsAtTheHubOfItsUserAlone(home: Int) throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let user = SpreadStage.user(of: home)
        for id in ["a", "b", "c"] { #expect(try stage.register("PUT", id, as: user, handle: "handle-\(id)") == 200) }
        var expected = [[], []] as [[String]]
        expected[home] = ["a handle-a", "b handle-b", "c handle-c"]
        #expect(stage.devices(of: user) == expected)
        #expect(try stage.register("DELETE", "b", as: user) == 200)
        expected[home].remove(at: 1)
        #expect(stage.devices(of: user) == expected)
    }

    /// The user who holds the device takes it over, under its id or another one.
    @Test(arguments: ["a", "b"], [0, 1]) func aDeviceMovesWithItsUser(newID: String, home: Int) throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let (old, new) = (SpreadStage.user(of: home), SpreadStage.user(of: 1 - home))
        #expect(try stage.register("PUT", "a", as: old, handle: "same") == 200)
        #expect(try stage.register("PUT", newID, as: new, handle: "same") == 200)
        #expect(stage.devices(of: old) == [[], []])
        #expect(stage.devices(of: new)[1 - home] == ["\(newID) same"] && stage.devices(of: new)[home].isEmpty)
    }

    /// As at one hub: an id is its user's, whichever hub has it.
    @Test(arguments: [0, 1]) func theIDOfAnotherUsersDeviceIsNotTaken(home: Int) throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let (owner, other) = (SpreadStage.user(of: home), SpreadStage.user(of: 1 - home))
        #expect(try stage.register("PUT", "a", as: owner, handle: "owners") == 200)
        #expect(try stage.register("PUT", "a", as: other, handle: "others") == 404)
        #expect(try stage.register("DELETE", "a", as: other) == 404)
        #expect(stage.devices(of: owner)[home] == ["a owners"] && stage.devices(of: other) == [[], []])
    }

    /// A device rings twice rather than not at all, until the app makes its call again.
    @Test func whatCannotBeRemovedIsRemovedByTheNextCall() throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let (old, new) = (SpreadStage.user(of: 0), SpreadStage.user(of: 1))
        #expect(try stage.register("PUT", "a", as: old, handle: "same") == 200)
        stage.hubs[0].arm([try Fault(parsing: "status=500,method=DELETE")])
        #expect(try stage.register("PUT", "a", as: new, handle: "same") == 502)
        #expect(stage.devices(of: old)[0] == ["a same"] && stage.devices(of: new)[1] == ["a same"])
        stage.hubs[0].arm([])
        #expect(try stage.register("PUT", "a", as: new, handle: "same") == 200)
        #expect(stage.devices(of: old) == [[], []] && stage.devices(of: new)[1] == ["a same"])
    }

    /// The hubs of the spread are others than when the device was registered, and nothing else of it is new.
    @Test func anotherSpreadBringsADeviceToItsHub() throws {
        let before = try SpreadStage(sharing: [0])
        let user = SpreadStage.user(of: 1)
        #expect(try before.register("PUT", "a", as: user, handle: "same") == 200)
        #expect(before.devices(of: user)[0] == ["a same"])
        before.stopGateway()
        let stage = try SpreadStage(hubs: before.hubs)
        defer { stage.stop() }
        #expect(try stage.register("PUT", "a", as: user, handle: "same") == 200)
        #expect(stage.devices(of: user) == [[], ["a same"]])
    }

    /// A back end that does not say whose device it is finds and changes it where it is, and does not move it.
    @Test(arguments: [0, 1], ["a", "b", "c"]) func aDeviceIsFoundByItsIDAlone(home: Int, id: String) throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let user = SpreadStage.user(of: home)
        #expect(try stage.register("PUT", id, as: user, handle: "same") == 200)
        let names = try stage.work(on: id) { (caller) throws -> [String] in
            _ = try caller.perform(.patchInstallation(id: id, changes: [.adding(tag: "news")]))
            guard case .installation(var found) = try caller.perform(.getInstallation(id: id)) else { return [] }
            found.tags.append("sport")
            let before = caller.hubName(of: id)
            _ = try caller.perform(.putInstallation(found))
            return [before, caller.hubName(of: id)]
        }
        #expect(names == [SpreadStage.names[home], SpreadStage.names[home]])
        #expect(stage.devices(of: user)[home] == ["\(id) same"] && stage.devices(of: user)[1 - home].isEmpty)
        for tag in ["news", "sport"] { #expect(stage.hubs[home].devices(tag: tag).count == 1) }
        try stage.work(on: id) { caller in _ = try caller.perform(.deleteInstallation(id: id)) }
        #expect(stage.devices(of: user) == [[], []])
    }

    @Test func whatIsNowhereIsAbsent() throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        let found = try stage.work(on: "a") { (caller) throws -> RegistrationReply in
            try caller.perform(.getInstallation(id: "a"))
        }
        #expect(found == .absent)
        let cause = try stage.work(on: "a") { (caller) -> RegistrationFailure.Cause? in
            do throws(RegistrationFailure) {
                _ = try caller.perform(.patchInstallation(id: "a", changes: [.adding(tag: "news")]))
                return nil
            } catch {
                return error.cause
            }
        }
        #expect(cause == .absent)
    }

    @Test func eachHubThatIsAwayIsNamed() throws {
        let stage = try SpreadStage()
        defer { stage.stop() }
        stage.hubs[1].stop(within: .zero)
        #expect(try stage.register("PUT", "a", as: SpreadStage.user(of: 0), handle: "same") == 502)
        #expect(eventually { stage.services.readiness.contains("failing hub two") })
        #expect(!stage.services.readiness.contains("failing hub one"))
        #expect(stage.devices(of: SpreadStage.user(of: 0)) == [[], []])
    }
}
