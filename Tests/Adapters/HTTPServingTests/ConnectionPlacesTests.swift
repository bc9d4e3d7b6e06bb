import Basics
import TestSupport
import Testing

@testable import HTTPServing

struct ConnectionPlacesTests {
    /// Three places, 80 ns for a request and 200 ns between two.
    private func places(_ maximum: Int = 3) -> ConnectionPlaces { ConnectionPlaces(maximum: maximum, request: 80, idle: 200) }

    @Test func theSilentGoFirstThenTheIdleThenTheSlowAndNobodyWhoWaits() {
        var places = places(5)
        for socket in Int32(1)...5 { places.enter(socket, at: 0) }
        for socket in Int32(1)...4 { places.speak(socket) }
        places.work(1)
        places.rest(2, at: 1)
        places.begin(3, at: 2)
        var gone: [ConnectionPlaces.Room] = []
        for now in UInt64(3)...8 {
            let room = places.makeRoom(at: now)
            gone.append(room)
            guard case .inPlaceOf(let socket) = room else { continue }
            places.leave(socket)
            places.enter(10 + socket, at: now)
            places.work(10 + socket)
        }
        // Sockets 3 and 4 send or take something, and had less than an eighth of their time.
        #expect(gone == [.inPlaceOf(5), .inPlaceOf(2), .none, .none, .none, .none])
        #expect(places.makeRoom(at: 10) == .inPlaceOf(4))
    }

    /// Eight places: the greedy has those from 1 on, and the others one each from 11 on, which came first and have sent nothing.
    private func crowd(_ greedy: String, _ others: [String], all count: Int = 8) -> ConnectionPlaces {
        var places = places(count)
        for (index, other) in others.enumerated() { places.enter(Int32(11 + index), from: NumericAddress(other), at: 0) }
        for socket in 1...Int32(count - others.count) {
            places.enter(socket, from: NumericAddress(greedy), at: 1)
            places.speak(socket)
        }
        return places
    }

    @Test(
        arguments: [
            // Idle between two requests, sending one, and waiting for its answer.
            (kind: "idle", others: 3, newcomer: "10.0.0.9", goes: 1), ("sending", 3, "10.0.0.9", 1),
            ("waiting", 3, "10.0.0.9", 11),
            // Whoever has most ends its own, and nobody else's.
            ("idle", 3, "10.0.0.1", 1), ("sending", 3, "10.0.0.1", nil), ("waiting", 3, "10.0.0.1", nil),
            // Nobody has two.
            ("idle", 7, "10.0.0.9", 11),
        ] as [(String, Int, String, Int32?)])
    func theOneGoesOfTheAddressThatHasMost(kind: String, others: Int, newcomer: String, goes: Int32?) {
        var places = crowd("10.0.0.1", (0..<others).map { "10.0.1.\($0)" })
        for socket in 1...Int32(8 - others) {
            if kind == "idle" { places.rest(socket, at: 2) }
            if kind == "waiting" { places.work(socket) }
        }
        let room = places.makeRoom(for: NumericAddress(newcomer), at: 3)
        #expect(room == goes.map { ConnectionPlaces.Room.inPlaceOf($0) } ?? ConnectionPlaces.Room.none)
    }

    @Test(arguments: [("2001:db8::1", "2001:db8::ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false)])
    func aNetworkOfIPv6IsOneAddress(first: String, second: String, areOne: Bool) {
        var places = places(3)
        places.enter(7, from: NumericAddress("10.0.0.1"), at: 0)
        for (socket, text) in [(Int32(1), first), (2, second)] { places.enter(socket, from: NumericAddress(text), at: 1) }
        #expect(places.makeRoom(for: NumericAddress("10.0.0.2"), at: 2) == .inPlaceOf(areOne ? 1 : 7))
    }

    @Test func anAddressAloneMayHaveEveryPlace() {
        var places = places(3)
        let address = NumericAddress("10.0.0.1")
        for socket in Int32(1)...3 {
            #expect(places.makeRoom(for: address, at: 0) == .free)
            places.enter(socket, from: address, at: 0)
            places.speak(socket)
            places.work(socket)
        }
        #expect(places.makeRoom(for: address, at: 0) == .none)
    }

    @Test func whoHasSentNothingForLongGivesWayToWhoeverHasMost() {
        var places = crowd("10.0.0.1", ["10.0.1.1"])
        for socket in Int32(1)...7 { places.work(socket) }
        #expect(places.makeRoom(for: NumericAddress("10.0.0.1"), at: 9) == .none)
        #expect(places.makeRoom(for: NumericAddress("10.0.0.1"), at: 10) == .inPlaceOf(11))
    }

    @Test(arguments: [(UInt64(1050), Int32(1)), (1100, 3)]) func whoHasJustComeStaysBesideIdleOnesOfItsAddress(
        now: UInt64, goes: Int32
    ) {
        var places = ConnectionPlaces(maximum: 3, request: 6400, idle: 20_000)
        for socket in Int32(1)...2 {
            places.enter(socket, at: 0)
            places.speak(socket)
            places.rest(socket, at: 10)
        }
        places.enter(3, at: 1000)
        #expect(places.makeRoom(at: now) == .inPlaceOf(goes))
    }

    @Test(arguments: 0..<10) func theNetworkWithMostIsKnown(seed: Int) throws {
        var random = SeededRandom(seed)
        var (origins, model) = (ConnectionOrigins(), [Int32: NumericAddress]())
        for _ in 0..<1000 {
            let socket = Int32.random(in: 0..<60, using: &random)
            if Bool.random(using: &random) {
                let address = try #require(NumericAddress("10.0.0.\(Int.random(in: 0..<6, using: &random))"))
                origins.add(socket, from: address)
                model[socket] = address
            } else {
                origins.remove(socket)
                model[socket] = nil
            }
            let counts = Dictionary(grouping: model.values) { $0 }.mapValues(\.count)
            #expect(origins.most == counts.values.max() ?? 0)
            #expect(origins.count(of: origins.greediest) == origins.most)
        }
    }

    @Test func ofManyTheOneGoesThatCameFirst() {
        var places = places()
        for socket in [7, 5, 6] as [Int32] { places.enter(socket, at: 0) }
        for socket in [7, 5, 6] as [Int32] {
            #expect(places.makeRoom(at: 0) == .inPlaceOf(socket))
            places.leave(socket)
            places.enter(socket + 10, at: 0)
        }
    }

    @Test func whoWasEndedKeepsADescriptorUntilItIsClosed() {
        var places = places(1)
        #expect(places.makeRoom(at: 0) == .free)
        let last = Int32(1 + ConnectionPlaces.spare(for: 1))
        for socket in 1...last {
            if socket > 1 { #expect(places.makeRoom(at: 0) == .inPlaceOf(socket - 1)) }
            places.enter(socket, at: 0)
        }
        #expect(places.makeRoom(at: 0) == .none)
        places.leave(1)
        #expect(places.makeRoom(at: 0) == .inPlaceOf(last))
    }

    @Test func whoWasEndedIsWaitedForNoMore() {
        var places = places(1)
        places.enter(1, at: 0)
        #expect(places.makeRoom(at: 0) == .inPlaceOf(1))
        // Its last events come afterwards.
        places.begin(1, at: 1)
        places.rest(1, at: 2)
        places.decline(1)
        #expect(!places.canBeLate && places.removeLate(at: .max) == nil)
    }

    @Test func theTimeOfARequestIsThatOfItsHeadAndItsBody() {
        var places = places()
        places.enter(1, at: 0)
        places.enter(2, at: 10)
        places.speak(2)
        places.speak(1)
        #expect(places.removeLate(at: 79) == nil)
        #expect(places.removeLate(at: 80)?.socket == 1)
        #expect(places.removeLate(at: 89) == nil)
        #expect(places.removeLate(at: 90)?.socket == 2 && !places.canBeLate)
    }

    @Test func whoIsLateWithABodyGetsAnAnswerUnlessOneHasGone() {
        var places = places()
        for socket in Int32(1)...4 {
            places.enter(socket, at: 0)
            places.speak(socket)
            if socket > 1 { places.awaitBody(socket) }
        }
        places.decline(3)
        let isThere = places.work(4)
        places.begin(4, at: 0)
        var late: [Int32: Bool] = [:]
        while let next = places.removeLate(at: 80) { late[next.socket] = next.awaitsBody }
        #expect(late == [1: false, 2: true, 3: false, 4: false])
        // Its body ends afterwards, and nothing is done for it.
        let isStillThere = places.work(2)
        #expect(isThere && !isStillThere)
    }

    @Test func aRequestThatWasDeclinedIsLateInItsTimeAndGoesWithTheSilent() {
        var places = places()
        for socket in Int32(1)...3 { places.enter(socket, at: 0) }
        places.speak(1)
        places.decline(1)
        places.work(2)
        places.rest(3, at: 0)
        #expect(places.makeRoom(at: 1) == .inPlaceOf(1))
        places.leave(1)
        places.enter(1, at: 1)
        places.decline(1)
        #expect(places.removeLate(at: 81)?.socket == 1)
        #expect(places.removeLate(at: 199) == nil && places.removeLate(at: 200)?.socket == 3)
    }

    @Test func withoutALimitNobodyIsIdleForTooLong() {
        var places = ConnectionPlaces(maximum: 1, request: 80, idle: 0)
        places.enter(1, at: 0)
        places.rest(1, at: 0)
        #expect(!places.canBeLate && places.removeLate(at: .max) == nil)
        #expect(places.makeRoom(at: 0) == .inPlaceOf(1))
    }

    @Test(arguments: 0..<20) func aQueueOfSocketsKeepsTheirOrder(seed: Int) {
        var random = SeededRandom(seed)
        var (queue, model) = (SocketQueue(), [Int32]())
        for _ in 0..<500 {
            let socket = Int32.random(in: 0..<12, using: &random)
            model.removeAll { $0 == socket }
            if Bool.random(using: &random) {
                queue.append(socket)
                model.append(socket)
            } else {
                queue.remove(socket)
            }
            #expect(queue.first == model.first)
        }
        while let first = queue.first {
            #expect(first == model.removeFirst())
            queue.remove(first)
        }
        #expect(model.isEmpty)
    }
}
