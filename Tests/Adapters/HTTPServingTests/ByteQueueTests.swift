import TestSupport
import Testing

@testable import HTTPServing

struct ByteQueueTests {
    private static func read(_ count: Int, of queue: inout ByteQueue) -> [UInt8] {
        var room = [UInt8](repeating: 0, count: count)
        let read = room.withUnsafeMutableBytes { queue.read(into: $0) }
        return Array(room[..<read])
    }

    private static func append(_ bytes: [UInt8], to queue: inout ByteQueue) -> Bool { queue.append(bytes) }

    @Test func aPieceThatFindsNoRoomIsNotTakenAtAll() {
        var queue = ByteQueue(capacity: 5)
        #expect(
            Self.append([1, 2, 3], to: &queue) && !Self.append([4, 5, 6], to: &queue) && Self.append([4, 5], to: &queue)
                && Self.append([], to: &queue))
        #expect(!Self.append([6], to: &queue) && queue.count == 5)
        #expect(Self.read(2, of: &queue) == [1, 2] && Self.append([6, 7], to: &queue) && !Self.append([8], to: &queue))
        #expect(Self.read(9, of: &queue) == [3, 4, 5, 6, 7] && queue.count == 0)
        #expect(Self.read(9, of: &queue) == [] && Self.read(0, of: &queue) == [])
    }

    @Test func anEmptiedOneHasRoomForAll() {
        var queue = ByteQueue(capacity: 3)
        #expect(Self.append([1, 2, 3], to: &queue))
        queue.removeAll()
        #expect(queue.count == 0 && Self.append([4, 5, 6], to: &queue) && Self.read(3, of: &queue) == [4, 5, 6])
    }

    @Test(arguments: 0..<20) func bytesComeOutAsTheyWentIn(seed: Int) {
        var random = SeededRandom(seed)
        var (queue, model, next) = (ByteQueue(capacity: 40), [UInt8](), UInt8(0))
        for _ in 0..<2000 {
            let count = Int.random(in: 0...20, using: &random)
            if Bool.random(using: &random) {
                let more = (0..<count).map { next &+ UInt8($0) }
                let hasRoom = model.count + count <= 40
                #expect(Self.append(more, to: &queue) == hasRoom)
                if hasRoom {
                    model += more
                    next &+= UInt8(count)
                }
            } else {
                #expect(Self.read(count, of: &queue) == Array(model.prefix(count)))
                model.removeFirst(min(count, model.count))
            }
            #expect(queue.count == model.count)
        }
    }
}
