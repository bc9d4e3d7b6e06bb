public import PushModel

/// The calls of devices that come handle by handle: no more than one call of each platform is held, however many devices there are.
///
/// Used as `TagStream` is, except that at the end several platforms may have a call: `finish` is asked until it says no.
public struct HandleStream: Sendable {
    /// The handles that one call is for.
    private struct Batch: Sendable {
        var bytes = ByteWriter()
        var ends: [Int] = []

        mutating func removeAll() {
            bytes.removeAll()
            ends.removeAll(keepingCapacity: true)
        }
    }

    /// Characters of the longest handle, as in the request schema.
    public static let maxHandleLength = 4096

    private var batches = [Batch](repeating: Batch(), count: Platform.allCases.count)
    private var chunks = [Int](repeating: -1, count: Platform.allCases.count)
    private var complete = Batch()

    /// The platform of the complete call.
    public private(set) var platform = Platform.apple

    /// No devices.
    public init() {}

    /// Adds a device to its platform's call, which is another one after a call that was complete.
    ///
    /// - Parameters:
    ///   - handle: 1…4,096 visible ASCII characters.
    ///   - platform: The device's.
    /// - Returns: Whether the call is complete with it.
    /// - Throws: The fault of what is no handle, which it does not repeat; the call is as it was.
    public mutating func add(_ handle: Span<UInt8>, of platform: Platform) throws(RequestFault) -> Bool {
        try Self.check(handle)
        let index = Int(platform.rawValue)
        batches[index].bytes.append(handle)
        batches[index].ends.append(batches[index].bytes.count)
        guard batches[index].ends.count == FanOutPlanner.maximumHandlesPerBatch else { return false }
        take(platform)
        return true
    }

    /// Checks a handle. Throws the fault of what is none, which it does not repeat.
    static func check(_ handle: Span<UInt8>) throws(RequestFault) {
        guard (1...maxHandleLength).contains(handle.count) else {
            throw RequestFault(.schemaInvalid, at: "", message: "A handle has 1 to \(maxHandleLength) characters.")
        }
        for index in handle.indices where handle[index] <= 0x20 || handle[index] >= 0x7F {
            throw RequestFault(.schemaInvalid, at: "", message: "A handle holds visible ASCII characters, no blanks.")
        }
    }

    /// Completes the last call of the next platform that has one.
    ///
    /// - Returns: Whether there is one.
    public mutating func finish() -> Bool {
        let rest = Platform.allCases.first { !batches[Int($0.rawValue)].ends.isEmpty }
        if let rest { take(rest) } else { complete.removeAll() }
        return rest != nil
    }

    /// The number of handles in the complete call: 1…1,000, and 0 before there is one.
    public var count: Int { complete.ends.count }

    /// The number of the complete call among those of its platform, from 0.
    public var chunk: Int { chunks[Int(platform.rawValue)] }

    /// One of the complete call's handles, until the next call is complete.
    ///
    /// - Parameter position: From 0, below `count`.
    /// - Returns: Its characters.
    @_lifetime(borrow self)
    public borrowing func handle(_ position: Int) -> Span<UInt8> {
        let start = position == 0 ? 0 : complete.ends[position - 1]
        return complete.bytes.span.extracting(start..<complete.ends[position])
    }

    /// Makes the call of a platform the complete one. The room of the one before is for the next.
    private mutating func take(_ platform: Platform) {
        self.platform = platform
        complete.removeAll()
        swap(&complete, &batches[Int(platform.rawValue)])
        chunks[Int(platform.rawValue)] += 1
    }
}
