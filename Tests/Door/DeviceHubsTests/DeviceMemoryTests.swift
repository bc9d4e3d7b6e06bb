import Basics
import DeviceHubs
import HubREST
import PushModel
import Synchronization
import Testing

struct DeviceMemoryTests {
    /// A clock that goes when it is told to.
    private final class Clock: Sendable {
        private let seconds = Atomic<Int64>(1)

        var now: MonotonicTime { MonotonicTime(nanoseconds: seconds.load(ordering: .relaxed) * 1_000_000_000) }

        func pass(_ count: Int64) { seconds.add(count, ordering: .relaxed) }
    }

    private func device(_ id: String, _ handle: String, tags: [String] = []) -> Installation {
        Installation(id: id, platform: .known(.fcmv1), pushChannel: handle, tags: tags)
    }

    private func memory(_ limits: DeviceMemory.Limits = .init(), _ clock: Clock = Clock()) -> DeviceMemory {
        DeviceMemory(limits, now: { clock.now })
    }

    private func ids(_ list: [DeviceRegistration]) -> [String] { list.compactMap(\.installationID) }

    @Test func aWriteIsKnownForAMinuteAndSoIsARemoval() {
        let clock = Clock()
        let memory = memory(.init(), clock)
        memory.note(.putInstallation(device("a", "h")), at: "main", over: .some(nil))
        memory.note(.deleteInstallation(id: "b"), at: "main", over: .some(device("b", "h")))
        clock.pass(59)
        #expect(memory.installation("a", at: "main", showing: nil) == device("a", "h"))
        #expect(memory.installation("b", at: "main", showing: device("b", "h")) == nil)
        #expect(!memory.knows("a", at: "other") && !memory.knows("A", at: "main"))
        clock.pass(1)
        #expect(memory.installation("a", at: "main", showing: nil) == nil && memory.count == 0)
    }

    @Test func whatIsOldIsForgottenThoughNobodyAsks() {
        let clock = Clock()
        let memory = memory(.init(), clock)
        memory.keep(device("a", "h"), as: "a", at: "main", over: nil)
        clock.pass(60)
        #expect(memory.count == 1)
        memory.trim()
        #expect(memory.count == 0)
    }

    @Test func otherCallsTellNothing() {
        let memory = memory()
        memory.note(.getInstallation(id: "a"), at: "main", over: nil)
        memory.note(.patchInstallation(id: "a", changes: []), at: "main", over: nil)
        #expect(memory.count == 0)
    }

    @Test func theOldestAreForgottenWhenThereAreTooMany() {
        var limits = DeviceMemory.Limits()
        limits.count = 3
        let memory = memory(limits)
        for id in ["a", "b", "c", "a", "d"] { memory.keep(device(id, "h-\(id)"), as: id, at: "main", over: nil) }
        #expect(["a", "b", "c", "d"].filter { memory.knows($0, at: "main") } == ["a", "c", "d"])
        for round in 0..<10_000 { memory.keep(device("x\(round % 7)", "h"), as: "x\(round % 7)", at: "main", over: nil) }
        #expect(memory.count == 3)
    }

    @Test func theOldestAreForgottenWhenTheyAreTooLarge() {
        var limits = DeviceMemory.Limits()
        limits.byteCount = 100_000
        let memory = memory(limits)
        for id in 0..<20 {
            memory.keep(device("\(id)", String(repeating: "x", count: 4096)), as: "\(id)", at: "main", over: nil)
        }
        #expect((5..<20).contains(memory.count) && memory.knows("19", at: "main"))
    }

    @Test func aListHasWhatWasWrittenSince() {
        let memory = memory()
        let listed = ["a", "b", "c"].map {
            DeviceRegistration(id: $0, platform: .fcmv1, handle: "h", tags: ["$InstallationId:{\($0)}"])
        }
        let native = DeviceRegistration(id: "n", platform: .fcmv1, handle: "h")
        memory.keep(nil, as: "a", at: "main", over: nil)
        memory.keep(device("b", "other"), as: "b", at: "main", over: nil)
        memory.keep(device("d", "h", tags: ["username:alice"]), as: "d", at: "main", over: nil)
        memory.keep(device("e", "h"), as: "e", at: "other", over: nil)
        let list = memory.corrected(listed + [native], of: "h", on: .fcmv1, at: "main")
        #expect(ids(list) == ["c", "d"] && list.contains(native))
        #expect(list.last?.tags.contains("username:alice") == true)
    }

    @Test func ofTwoThatGotAHandleTheLaterKeepsIt() {
        let memory = memory()
        memory.keep(device("a", "h"), as: "a", at: "main", over: nil)
        memory.keep(device("b", "h"), as: "b", at: "main", over: nil)
        #expect(ids(memory.rivals(of: "b", handle: "h", on: .fcmv1, at: "main")) == ["a"])
        #expect(memory.rivals(of: "a", handle: "h", on: .fcmv1, at: "main").isEmpty)
        #expect(memory.mayRemove("a", for: "b", at: ["main"]) && !memory.mayRemove("b", for: "a", at: ["main"]))
        #expect(memory.mayRemove("unknown", for: "a", at: ["main"]))
        // A change of tags gives it no handle.
        memory.keep(device("a", "h", tags: ["t"]), as: "a", at: "main", over: nil, isChange: true)
        #expect(memory.mayRemove("a", for: "b", at: ["main"]))
        memory.keep(nil, as: "b", at: "main", over: nil)
        #expect(!memory.mayRemove("a", for: "b", at: ["main"]))
    }

    /// The memory is of use while a hub is behind, and no longer.
    @Test func theHubsWordCountsOnceItShowsSomethingElse() {
        let (old, new, other) = (device("a", "h"), device("a", "h", tags: ["t"]), device("a", "h", tags: ["u"]))
        let written = memory()
        written.keep(old, as: "a", at: "main", over: .some(nil))
        written.keep(new, as: "a", at: "main", over: .some(nil))
        // The hub may be behind by both writes, or by one.
        for shown in [nil, old] { #expect(written.installation("a", at: "main", showing: shown) == new) }
        #expect(written.installation("a", at: "main", showing: other) == other && !written.knows("a", at: "main"))
        let seen = memory()
        seen.keep(new, as: "a", at: "main", over: .some(nil))
        #expect(seen.installation("a", at: "main", showing: new) == new)
        #expect(seen.installation("a", at: "main", showing: nil) == nil && seen.count == 0)
        let removed = memory()
        removed.keep(nil, as: "a", at: "main", over: .some(old))
        #expect(removed.installation("a", at: "main", showing: old) == nil)
        #expect(removed.installation("a", at: "main", showing: other) == other)
    }

    /// The tags' order and case, and the zone of a moment, are the hub's own.
    @Test func aWriteIsKnownHoweverTheHubWritesIt() {
        var written = device("a", "h", tags: ["t", "U"])
        written.expirationTime = "2030-01-01T00:00:00.000Z"
        let memory = memory()
        memory.keep(written, as: "a", at: "main", over: .some(nil))
        var shown = device("a", "h", tags: ["u", "T", "$InstallationId:{a}"])
        shown.expirationTime = "2030-01-01T00:00:00"
        #expect(memory.installation("a", at: "main", showing: shown) == shown && memory.knows("a", at: "main"))
    }

    @Test func ofManyWritesTheStatesAreBounded() {
        let memory = memory()
        for number in 0..<1000 { memory.keep(device("a", "h\(number)"), as: "a", at: "main", over: .some(nil)) }
        #expect(memory.installation("a", at: "main", showing: device("a", "h998")) == device("a", "h999"))
        #expect(memory.installation("a", at: "main", showing: device("a", "h0")) == device("a", "h0"))
    }
}
