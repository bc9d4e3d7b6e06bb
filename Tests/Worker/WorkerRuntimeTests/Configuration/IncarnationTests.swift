import Testing

@testable import WorkerRuntime

/// What a client id tells of a run, and what a look into the group makes of it.
struct IncarnationTests {
    private static let own = Incarnation(place: "host boot pid:[1]", process: 4711, start: 99, number: .max)

    @Test(arguments: [
        own, Incarnation(place: nil, process: .max, start: nil, number: 0),
        Incarnation(place: "", process: 1, start: .max, number: 1),
    ])
    func aRunIsReadBackFromItsClientID(run: Incarnation) {
        for name in ["pushfan", "a.b-c", "", String(repeating: "x", count: 200)] {
            let id = run.clientID(name)
            #expect(Incarnation(clientID: id) == run && id.utf8.count <= 100 && id.hasPrefix("\(name.prefix(30))."))
        }
    }

    @Test(arguments: [
        "", "pushfan", "pushfan.", "pushfan.i", "pushfan.i-1-2-3", "pushfan.i-1-2-3-4-5", "pushfan.j-1-2-3-4",
        "pushfan.i-1-0-3-4",
        "pushfan.i-1--3-4", "pushfan.i-1-2-3-", "pushfan.i-1-fffffffff-3-4", "pushfan.i-1-2-3-4.more",
    ])
    func otherClientIDsTellNothing(id: String) {
        #expect(Incarnation(clientID: id) == nil)
    }

    @Test func runsAreBesideEachOtherAtOneKnownPlace() {
        let neighbour = Incarnation(place: "host boot pid:[1]", process: 1, start: nil, number: 1)
        let stranger = Incarnation(place: "host boot pid:[2]", process: 1, start: nil, number: 1)
        let unknown = Incarnation(place: nil, process: 1, start: nil, number: 1)
        #expect(Self.own.isBeside(neighbour) && !Self.own.isBeside(stranger) && !unknown.isBeside(unknown))
    }

    @Test(
        arguments: [
            (own, false, false, .own), (own, true, true, .own), (nil, false, false, .unnamed), (nil, false, true, .ended),
            (Incarnation(place: nil, process: 1, start: nil, number: 1), false, false, .other),
            (Incarnation(place: nil, process: 1, start: nil, number: 1), true, false, .ended),
            (Incarnation(place: nil, process: 1, start: nil, number: 1), false, true, .ended),
        ] as [(Incarnation?, Bool, Bool, NameHolder)])
    func whatIsSeenOfAName(holder: Incarnation?, isGone: Bool, hasLeft: Bool, sighting: NameHolder) {
        #expect(NameHolder(holder: holder, own: Self.own, isGone: isGone, hasLeft: hasLeft) == sighting)
    }
}
