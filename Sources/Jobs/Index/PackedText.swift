import PushModel

/// Text in which no piece is written again that stands there before. Of results one behind the other, less than a fifth is left.
///
/// It is a row of pieces. A piece has the length of its literal bytes and that of its copy in the halves of one byte, then more of the
/// former, the literal bytes, the distance of the copy back in two bytes, and more of the latter. The last piece has no copy.
enum PackedText {
    /// The longest distance of a copy.
    static let reach = 65_535
    /// The shortest copy. Eight bytes are compared at once.
    private static let shortest = 8
    private static let slotBits = 13

    /// Packs a text.
    static func pack(_ text: Span<UInt8>) -> [UInt8] {
        // A piece without a copy takes a byte more for each 255.
        Array(unsafeUninitializedCapacity: text.count + text.count / 255 + 16) { room, count in
            text.withUnsafeBytes { text in
                var writer = PieceWriter(text, in: UnsafeMutableRawBufferPointer(room))
                withUnsafeTemporaryAllocation(of: Int32.self, capacity: 1 << slotBits) { slots in
                    slots.initialize(repeating: -1)
                    findCopies(in: text, using: slots, for: &writer)
                }
                writer.add(to: text.count, copying: 0, from: 0)
                count = writer.count
            }
        }
    }

    private static func findCopies(
        in text: UnsafeRawBufferPointer, using slots: UnsafeMutableBufferPointer<Int32>, for writer: inout PieceWriter
    ) {
        var place = 0
        while place + shortest <= text.count {
            let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            let slot = Int((word &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - slotBits))
            let earlier = Int(slots[slot])
            slots[slot] = Int32(truncatingIfNeeded: place)
            guard earlier >= 0, place - earlier <= reach,
                text.loadUnaligned(fromByteOffset: earlier, as: UInt64.self) == word
            else {
                // Text that repeats nothing is passed over faster and faster.
                place += 1 + (place - writer.place) >> 6
                continue
            }
            let length = commonLength(in: text, at: earlier, and: place)
            writer.add(to: place, copying: length, from: place - earlier)
            place += length
        }
    }

    /// The number of equal bytes at two places, of which the first eight are.
    private static func commonLength(in text: UnsafeRawBufferPointer, at earlier: Int, and place: Int) -> Int {
        var length = shortest
        while place + length + 8 <= text.count {
            let difference =
                text.loadUnaligned(fromByteOffset: earlier + length, as: UInt64.self)
                ^ text.loadUnaligned(fromByteOffset: place + length, as: UInt64.self)
            // The first byte is the lowest one.
            guard difference == 0 else { return length + difference.littleEndian.trailingZeroBitCount / 8 }
            length += 8
        }
        while place + length < text.count, text[earlier + length] == text[place + length] { length += 1 }
        return length
    }

    /// Unpacks what `pack` has made. Returns nil where that is damaged.
    static func unpack(_ bytes: Span<UInt8>) -> [UInt8]? {
        var text = ByteWriter(capacity: bytes.count * 8)
        var reader = PieceReader(bytes)
        while let head = reader.byte() {
            guard let literals = reader.length(Int(head >> 4)), let place = reader.skip(literals) else { return nil }
            text.append(bytes.extracting(place..<place + literals))
            if reader.isAtEnd { return head & 15 == 0 ? text.bytes : nil }
            guard let distance = reader.distance(), let rest = reader.length(Int(head & 15)), distance > 0, distance <= text.count
            else { return nil }
            copy(rest + shortest, from: distance, in: &text)
        }
        return nil
    }

    /// Repeats what stands at a distance. A copy may go on with what it has just written.
    private static func copy(_ length: Int, from distance: Int, in text: inout ByteWriter) {
        var rest = length
        while rest > 0 {
            let count = min(rest, distance)
            let start = text.count - distance
            // The writer may move what it has, so the piece is held for itself.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { piece in
                text.span.extracting(start..<start + count).withUnsafeBufferPointer { _ = piece.initialize(from: $0) }
                text.append(UnsafeBufferPointer(piece).span)
            }
            rest -= count
        }
    }

    /// Writes pieces, in room that is enough for all.
    private struct PieceWriter {
        private let text: UnsafeRawBufferPointer
        private let room: UnsafeMutableRawBufferPointer
        /// The place in the text up to which it was written.
        private(set) var place = 0
        private(set) var count = 0

        init(_ text: UnsafeRawBufferPointer, in room: UnsafeMutableRawBufferPointer) {
            self.text = text
            self.room = room
        }

        /// Adds the literal bytes up to `end`, and a copy unless it has no length.
        mutating func add(to end: Int, copying length: Int, from distance: Int) {
            let literals = end - place
            let rest = max(0, length - shortest)
            put(UInt8(min(literals, 15) << 4 | min(rest, 15)))
            put(lengthFrom: literals)
            UnsafeMutableRawBufferPointer(rebasing: room[count...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: text[place..<end]))
            count += literals
            place = end + length
            guard length > 0 else { return }
            put(UInt8(distance & 0xFF))
            put(UInt8(distance >> 8))
            put(lengthFrom: rest)
        }

        private mutating func put(_ byte: UInt8) {
            room[count] = byte
            count += 1
        }

        /// Writes what does not fit into half a byte.
        private mutating func put(lengthFrom length: Int) {
            guard length >= 15 else { return }
            var rest = length - 15
            while rest >= 255 {
                put(255)
                rest -= 255
            }
            put(UInt8(rest))
        }
    }

    /// Reads the parts of pieces. Each is nil behind the end.
    private struct PieceReader: ~Escapable {
        private let bytes: Span<UInt8>
        private var place = 0

        @_lifetime(copy bytes)
        init(_ bytes: Span<UInt8>) { self.bytes = bytes }

        var isAtEnd: Bool { place == bytes.count }

        mutating func byte() -> UInt8? {
            guard place < bytes.count else { return nil }
            place += 1
            return bytes[place - 1]
        }

        mutating func distance() -> Int? {
            guard let low = byte(), let high = byte() else { return nil }
            return Int(high) << 8 | Int(low)
        }

        /// A length of which half a byte was read.
        mutating func length(_ half: Int) -> Int? {
            guard half == 15 else { return half }
            var length = 15
            while let more = byte() {
                length += Int(more)
                if more < 255 { return length }
            }
            return nil
        }

        /// Passes over bytes, and returns where they begin.
        mutating func skip(_ count: Int) -> Int? {
            guard count <= bytes.count - place else { return nil }
            defer { place += count }
            return place
        }
    }
}
