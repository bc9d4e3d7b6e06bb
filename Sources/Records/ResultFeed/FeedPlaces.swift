import Basics

/// A place in a topic of results: the next offset of each partition. A partition without one begins at its first record.
public struct FeedPlaces: Sendable, Hashable {
    private static let version: UInt8 = 1
    /// The longest text that is read. One of 400 partitions takes less than 3,000 bytes.
    private static let maximumTextByteCount = 512 << 10
    private static let maximumPartitionCount: UInt64 = 100_000

    /// The next offset, by partition.
    public var offsets: [Int32: Int64]

    /// A place with these offsets.
    public init(_ offsets: [Int32: Int64] = [:]) { self.offsets = offsets }

    /// The place as a cursor: letters, digits, `-` and `_`, the same for the same place.
    ///
    /// A byte for the version and one for the check come first. Then each run of partitions follows: its distance from the one before, its
    /// length, and for each offset the difference from the one before.
    public var text: String {
        let known = offsets.filter { $0.key >= 0 && $0.value >= 0 }.sorted { $0.key < $1.key }
        var numbers = VariableNumbers()
        var (start, expected, offset) = (0, Int64(0), Int64(0))
        while start < known.count {
            var end = start + 1
            while end < known.count, known[end].key - known[end - 1].key == 1 { end += 1 }
            numbers.append(UInt64(Int64(known[start].key) - expected))
            numbers.append(UInt64(end - start - 1))
            for place in known[start..<end] {
                numbers.appendSigned(place.value - offset)
                offset = place.value
            }
            // The next partition would belong to this run.
            expected = Int64(known[end - 1].key) + 2
            start = end
        }
        let bytes = [Self.version, Self.check(numbers.bytes)] + numbers.bytes
        let letters = Base64.encode(bytes).filter { $0 != UInt8(ascii: "=") }.map { letter -> UInt8 in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Reads a cursor, or returns nil for a text that is none.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumTextByteCount, let bytes = Self.bytes(of: text), bytes.count >= 2,
            bytes[0] == Self.version, bytes[1] == Self.check(bytes[2...])
        else { return nil }
        var numbers = VariableNumbers(bytes: Array(bytes[2...]))
        var (expected, offset) = (Int64(0), Int64(0))
        offsets = [:]
        while numbers.leftCount > 0 {
            guard let distance = numbers.next(), let more = numbers.next(), distance <= UInt64(Int32.max),
                more < UInt64(numbers.leftCount), UInt64(offsets.count) + more < Self.maximumPartitionCount
            else { return nil }
            let first = expected + Int64(distance)
            guard first + Int64(more) <= Int64(Int32.max) else { return nil }
            for partition in first...first + Int64(more) {
                guard let difference = numbers.nextSigned() else { return nil }
                let (sum, isBeyond) = offset.addingReportingOverflow(difference)
                guard !isBeyond, sum >= 0 else { return nil }
                offset = sum
                offsets[Int32(partition)] = sum
            }
            expected = first + Int64(more) + 2
        }
    }

    /// Finds a letter that was lost or changed on the way. It proves nothing about who made the text.
    private static func check(_ bytes: some Sequence<UInt8>) -> UInt8 {
        let hash = FNV1a.hash(of: bytes)
        return UInt8(truncatingIfNeeded: hash ^ hash >> 32)
    }

    private static func bytes(of text: String) -> [UInt8]? {
        var letters: [UInt8] = []
        letters.reserveCapacity(text.utf8.count + 3)
        for letter in text.utf8 {
            switch letter {
            case UInt8(ascii: "-"): letters.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): letters.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: letters.append(letter)
            }
        }
        letters += [UInt8](repeating: UInt8(ascii: "="), count: (4 - letters.count % 4) % 4)
        return Base64.decode(letters)
    }
}

/// Numbers of 1 to 10 bytes, seven bits in each, the lowest first. A number has one spelling.
private struct VariableNumbers {
    private(set) var bytes: [UInt8] = []
    private var index = 0

    init(bytes: [UInt8] = []) { self.bytes = bytes }

    /// The bytes that were not read.
    var leftCount: Int { bytes.count - index }

    mutating func append(_ number: UInt64) {
        var left = number
        while left > 0x7F {
            bytes.append(UInt8(left & 0x7F) | 0x80)
            left >>= 7
        }
        bytes.append(UInt8(left))
    }

    /// Small numbers are short, whatever their sign.
    mutating func appendSigned(_ number: Int64) { append(UInt64(bitPattern: number << 1 ^ number >> 63)) }

    mutating func next() -> UInt64? {
        var (number, shift) = (UInt64(0), UInt64(0))
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else { return nil }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    mutating func nextSigned() -> Int64? {
        next().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }
}
