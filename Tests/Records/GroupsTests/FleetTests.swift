import Testing

@testable import Groups

@Suite struct FleetTests {
    private static let page = Array(#"{"loops":[{"worker":"w"}]}"#.utf8)
    /// The time of the clock that never jumps at which reading begins, and the wall clock's.
    private static let (start, wall): (Int64, Int64) = (5_000_000, 1_800_000_000_000)

    private static func key(_ name: String) -> [UInt8] { Array(name.utf8) }

    private static func ids(_ fleet: Fleet, at now: Int64 = start) -> [String] { fleet.members(at: now).map(\.id) }

    @Test func theLastReportOfEachWorkerCountsAndATombstoneTakesItAway() {
        var fleet = Fleet()
        let newer = Array(#"{"loops":[]}"#.utf8)
        for (name, value) in [("b", Self.page), ("a", Self.page), ("b", newer), ("c", Self.page), ("c", nil), ("d", nil)] {
            fleet.take(key: Self.key(name), value: value, heardAt: Self.start)
        }
        let members = fleet.members(at: Self.start)
        #expect(members.map(\.id) == ["a", "b"])
        #expect(members.map(\.raw) == [Self.page, newer] && members.map(\.page.loops.count) == [1, 0])
    }

    /// The reports of workers as they come, and what is said to who cancels.
    @Test(
        arguments: [
            ([], nil), (["{}"], nil), ([#"{"cancellations_off":false},{}"#], nil),
            ([#"{"cancellations_off":true}"#], "no worker reads control at present"),
            ([#"{},{"cancellations_off":true}"#, "{}", "{}"], "1 of 3 workers do not read control at present"),
        ] as [([String], String?)])
    func whoCancelsHearsOfWorkersThatDoNotSeeIt(_ loops: [String], _ words: String?) {
        var fleet = Fleet()
        for (place, text) in loops.enumerated() {
            fleet.take(key: Self.key("w\(place)"), value: Array(#"{"loops":[\#(text)]}"#.utf8), heardAt: Self.start)
        }
        let note = fleet.cancellationNote(topic: "control", at: Self.start)
        #expect((note == nil) == (words == nil) && note?.hasPrefix(words ?? "") != false)
        #expect(fleet.cancellationNote(topic: "control", at: Self.start + Fleet.staleAge + 1) == nil, "who is silent may be gone")
    }

    @Test(arguments: [
        (Int64(0), false, true), (10_000, false, true), (10_001, true, true), (59_999, true, true), (60_000, true, false),
        (-5, false, true),
    ])
    func whoIsSilentIsStaleAndThenForgotten(age: Int64, isStale: Bool, isKnown: Bool) {
        var fleet = Fleet()
        fleet.take(key: Self.key("a"), value: Self.page, heardAt: Self.start)
        let member = fleet.members(at: Self.start + age).first
        #expect(member?.id == (isKnown ? "a" : nil))
        if let member { #expect(member.isStale == isStale && member.age == max(0, age)) }
    }

    @Test(arguments: ["", "[]", "{", "loops", #"{"loops":3}"#])
    func whatIsNoPageIsPassedOver(value: String) {
        var fleet = Fleet()
        fleet.take(key: Self.key("a"), value: Array(value.utf8), heardAt: Self.start)
        #expect(Self.ids(fleet).isEmpty)
    }

    @Test func recordsThatNoWorkerWritesArePassedOver() {
        var fleet = Fleet()
        let long = [UInt8](repeating: 0x61, count: 70_000)
        for key in [nil, [], long, [0xFF, 0xFE]] { fleet.take(key: key, value: Self.page, heardAt: Self.start) }
        fleet.take(key: Self.key("a"), value: long, heardAt: Self.start)
        #expect(Self.ids(fleet).isEmpty)
    }

    @Test(arguments: [(4096, true), (8192, true), (8193, false)]) func aReportLargerThanAnyWorkersIsCountedAndPassedOver(
        byteCount: Int, isKept: Bool
    ) {
        var fleet = Fleet()
        let padding = String(repeating: " ", count: byteCount - Self.page.count)
        fleet.take(key: Self.key("a"), value: Self.page + Array(padding.utf8), heardAt: Self.start)
        #expect(Self.ids(fleet) == (isKept ? ["a"] : []) && fleet.ignoredCount == (isKept ? 0 : 1))
    }

    @Test func strangersTakePlacesOfStaleWorkersAlone() {
        var fleet = Fleet()
        fleet.take(key: Self.key("silent"), value: Self.page, heardAt: Self.start)
        let later = Self.start + Fleet.staleAge + 1
        for number in 1..<Fleet.capacity { fleet.take(key: Self.key("\(number)"), value: Self.page, heardAt: later) }
        fleet.take(key: Self.key("new"), value: Self.page, heardAt: later)
        #expect(fleet.members(at: later).count == Fleet.capacity)
        #expect(
            Set(Self.ids(fleet, at: later)).isSuperset(of: ["1", "399", "new"]) && !Self.ids(fleet, at: later).contains("silent"))
        for number in 0..<1500 { fleet.take(key: Self.key("stranger-\(number)"), value: Self.page, heardAt: later + 2000) }
        #expect(fleet.ignoredCount == 1500 && Self.ids(fleet, at: later + 2000).contains("new"))
    }

    /// The clock of the brokers, or of a worker, against that of the reader. The newest record is a second old, another 20 s older.
    @Test(
        arguments: [(0, [21_000, 1000]), (-30_000, [51_000, 31_000]), (600_000, [20_000, 0]), (1000, [20_000, 0])]
            as [(Int64, [Int64])])
    func whatWasThereBeforeHasTheAgeThatTheLatestClockGivesIt(ahead: Int64, ages: [Int64]) {
        var fleet = Fleet()
        for (name, age) in [("a", Int64(21_000)), ("b", 1000)] {
            fleet.take(
                key: Self.key(name), value: Self.page, writtenAt: Self.wall + ahead - age, wall: Self.wall, readAt: Self.start)
        }
        #expect(fleet.members(at: Self.start).map(\.age) == ages)
        #expect(fleet.members(at: Self.start + 500).map(\.age) == ages.map { $0 + 500 })
        // Whoever speaks now was heard now, whatever its clock says.
        fleet.take(key: Self.key("a"), value: Self.page, heardAt: Self.start + 500)
        #expect(fleet.members(at: Self.start + 500).first?.age == 0)
    }

    @Test(arguments: [-3_600_000, 3_600_000] as [Int64])
    func aJumpOfTheWallClockAgesNobodyThatIsHeard(jump: Int64) {
        var fleet = Fleet()
        fleet.take(key: Self.key("a"), value: Self.page, heardAt: Self.start)
        fleet.take(key: Self.key("b"), value: Self.page, writtenAt: nil, wall: Self.wall + jump, readAt: Self.start)
        #expect(fleet.members(at: Self.start + 1000).map(\.age) == [1000, 1000])
    }

    @Test(arguments: [Int64.min, -1, .max])
    func anyTimeOfARecordIsBorne(time: Int64) {
        var fleet = Fleet()
        fleet.take(key: Self.key("a"), value: Self.page, writtenAt: time, wall: Self.wall, readAt: Self.start)
        fleet.take(key: Self.key("b"), value: Self.page, writtenAt: Self.wall, wall: Self.wall, readAt: Self.start)
        #expect(fleet.members(at: Self.start).count <= 2)
    }

    @Test func aMillionStrangersTakeNoMoreRoomAndNoWorkersPlace() {
        var fleet = Fleet()
        fleet.take(key: Self.key("worker"), value: Self.page, heardAt: Self.start)
        for number in 0..<1_000_000 { fleet.take(key: Self.key("\(number)"), value: [], heardAt: Self.start) }
        fleet.take(key: Self.key("worker"), value: Self.page, heardAt: Self.start + 70_000)
        #expect(Self.ids(fleet, at: Self.start + 70_000) == ["worker"])
        fleet.take(key: Self.key("new"), value: Self.page, heardAt: Self.start + 70_000)
        #expect(Self.ids(fleet, at: Self.start + 70_000) == ["new", "worker"], "strangers are forgotten")
    }
}
