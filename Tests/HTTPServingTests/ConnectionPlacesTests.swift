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
