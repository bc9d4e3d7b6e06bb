import Basics
import PushModel

extension FanOutPlan {
    /// A number that says whether two plans of one request are the same: calls, platforms and whom they reach, in order (64-bit FNV-1a).
    public var digest: UInt64 {
        var digest = FNV1a()
        for call in calls {
            digest.add(call.platform.map { UInt64($0.rawValue) } ?? .max)
            digest.add(UInt64(call.chunk))
            switch call.target {
            case .tags(let tags):
                digest.add(UInt64(tags.count))
                digest.add(span(tags))
            case .broadcast: digest.add(UInt64.max)
            case .device: digest.add(UInt64.max - 1)
            // The handles are the request's own, in its order.
            case .devices(let handles): digest.add(UInt64.max - 1 - UInt64(handles.count))
            }
        }
        return digest.value
    }
}

extension FNV1a {
    /// Adds the bytes of a number, the least significant first.
    fileprivate mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
