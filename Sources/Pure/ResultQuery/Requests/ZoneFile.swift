extension LocalZone {
    /// The largest file that is read, in bytes. Those of the database have at most 4 KiB.
    public static let fileLimit = 65_536

    /// Reads a file of the time zone database: TZif, version 2 or later (RFC 8536).
    ///
    /// - Parameters:
    ///   - name: The zone's name.
    ///   - bytes: The whole file. One with leap seconds, or that is damaged in any way, gives nil.
    public init?(name: String, file bytes: [UInt8]) {
        guard bytes.count <= Self.fileLimit else { return nil }
        var file = ZoneFile(bytes: bytes)
        guard let (first, later) = file.read() else { return nil }
        self.init(name: name, first: first, later: later)
    }
}

/// Reads the bytes of a zone's file from left to right.
private struct ZoneFile {
    /// The seconds that a zone may be away from UTC.
    private static let distances: ClosedRange<Int64> = -89_999...93_599
    /// The seconds since 1970 at which a zone may change.
    private static let moments: ClosedRange<Int64> = -(1 << 59)...(1 << 59)

    let bytes: [UInt8]
    private var index = 0

    /// The numbers in front of a block.
    private struct Header {
        let isUT, isStandard, leaps, times, types, letters: Int64

        /// The length of a block whose moments have so many bytes.
        func byteCount(ofMoments width: Int64) -> Int64 {
            times * (width + 1) + types * 6 + letters + leaps * (width + 4) + isStandard + isUT
        }
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The seconds east of UTC at first, and every change of them.
    mutating func read() -> (first: Int64, later: [LocalZone.Offset])? {
        guard let old = header(), skip(old.byteCount(ofMoments: 4)) else { return nil }
        guard let new = header(), new.leaps == 0, (1...256).contains(new.types) else { return nil }
        var times: [Int64] = []
        for _ in 0..<new.times {
            guard let time = number(8), Self.moments.contains(time), time > times.last ?? .min else { return nil }
            times.append(time)
        }
        var types: [Int] = []
        for _ in times {
            guard let type = number(1), type < new.types else { return nil }
            types.append(Int(type))
        }
        var distances: [Int64] = []
        for _ in 0..<new.types {
            guard let distance = number(4), Self.distances.contains(distance), skip(2) else { return nil }
            distances.append(distance)
        }
        guard skip(new.letters + new.isStandard + new.isUT), let footer = footer() else { return nil }
        var later = zip(times, types).map { LocalZone.Offset(since: $0, seconds: distances[$1]) }
        if !footer.isEmpty {
            guard let rule = ZoneRule(footer) else { return nil }
            later += rule.changes.filter { $0.since > times.last ?? .min }
        }
        return (distances[0], later)
    }

    /// Reads the header of a block. The digit 2 stands in those of version 2.
    private mutating func header() -> Header? {
        let magic: Int64 = 0x545A_6966
        guard number(4) == magic, let version = number(1), version >= 0x32, skip(15) else { return nil }
        guard let isUT = number(4), let isStandard = number(4), let leaps = number(4), let times = number(4),
            let types = number(4), let letters = number(4),
            [isUT, isStandard, leaps, times, types, letters].allSatisfy({ $0 >= 0 })
        else { return nil }
        return Header(
            isUT: isUT, isStandard: isStandard, leaps: leaps, times: times, types: types, letters: letters)
    }

    /// The rule for later times, between two ends of lines.
    private mutating func footer() -> [UInt8]? {
        let end = UInt8(ascii: "\n")
        guard number(1) == Int64(end), let last = bytes[index...].firstIndex(of: end) else { return nil }
        return Array(bytes[index..<last])
    }

    /// A number, highest byte first. Those of four or eight bytes have a sign.
    private mutating func number(_ width: Int) -> Int64? {
        guard bytes.count - index >= width else { return nil }
        let number = bytes[index..<index + width].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        index += width
        return width == 4 ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number)
    }

    private mutating func skip(_ count: Int64) -> Bool {
        guard count <= bytes.count - index else { return false }
        index += Int(count)
        return true
    }
}
