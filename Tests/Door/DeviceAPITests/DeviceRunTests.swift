@testable import DeviceAPI
import DeviceHubs
import DoorStage
import FanOut
import HubREST
import PushModel
import TestSupport
import Testing

/// Callers who share ids and handles, at a hub that shows writes late, with calls on different ids at the same time.
struct DeviceRunTests {
    private static let ids = ["a", "b", "c", "d"]
    private static let handles = ["h", "i", "j"]

    /// A call that has begun.
    private struct Running {
        var desk: DeviceDesk
        var step: DeviceDesk.Step
        let rights: DeviceRights
    }

    private let parties: DeviceParties

    init() throws { parties = try DeviceParties() }

    private func purpose(for rights: DeviceRights, by random: inout SeededRandom) throws -> DeviceDesk.Purpose {
        let handle = Self.handles[random.below(3)]
        let user = rights.user ?? [parties.people.alice, parties.people.bob, nil][random.below(3)]
        switch random.below(8) {
        case 0, 1, 2: return .put(DeviceBody(platform: .fcmv1, handle: handle, user: user, tags: ["World"]))
        case 3: return .change(try parties.patch(#"[{"op":"replace","path":"/handle","value":"\#(handle)"}]"#, for: rights))
        case 4: return .change(try parties.patch(#"[{"op":"remove","path":"/expires_at"}]"#, for: rights))
        case 5: return .addTag("News")
        case 6: return .remove
        default: return .show
        }
    }

    @Test(arguments: 0..<40) func aDeviceHasOneOwnerAndNobodyReadsAnothers(_ seed: Int) throws {
        var random = SeededRandom(seed)
        var hub = LateHub()
        hub.isLate = true
        var running: [String: Running] = [:]
        for round in 0..<600 {
            let id = Self.ids[random.below(Self.ids.count)]
            if var one = running[id] {
                if case .ask(let call) = one.step { one.step = one.desk.next(after: hub.reply(to: call, on: id)) }
                running[id] = one
                if case .end(let ending) = one.step {
                    check(ending, for: one.rights)
                    running[id] = nil
                }
            } else if round < 560 {
                let rights = [parties.alice, parties.bob, parties.backEnd][random.below(3)]
                var desk = DeviceDesk(try purpose(for: rights, by: &random), on: id, for: rights)
                running[id] = Running(desk: desk, step: desk.start(), rights: rights)
                running[id]?.desk = desk
            }
            if random.below(10) == 0 { hub.catchUp() }
        }
        for (id, one) in running.sorted(by: { $0.key < $1.key }) {
            var one = one
            while case .ask(let call) = one.step { one.step = one.desk.next(after: hub.reply(to: call, on: id)) }
            if case .end(let ending) = one.step { check(ending, for: one.rights) }
        }
        check(hub)
    }

    private func check(_ ending: DeviceDesk.Ending, for rights: DeviceRights) {
        switch ending {
        case .shown(let installation, let moved):
            #expect(rights.user == nil || installation.userID == rights.user?.form)
            #expect(rights.user == nil || moved.allSatisfy { $0.user == nil })
        case .failed: Issue.record("a call failed")
        case .done, .refused: break
        }
    }

    /// Each handle has one installation, and each installation one user, named twice.
    private func check(_ hub: LateHub) {
        let handles = hub.truth.values.map(\.pushChannel)
        #expect(Set(handles).count == handles.count)
        for installation in hub.truth.values {
            let users = installation.tags.filter { parties.people.users.fits($0) }
            #expect(users == (installation.userID.map { ["username:\($0)"] } ?? []))
        }
    }
}
