import PushModel

extension FanOutPlan {
    /// A number that says whether two plans of one request are the same: calls, platforms and whom they reach, in order (64-bit FNV-1a).
    public var digest: UInt64 {
        var digest = Digest()
        for call in calls {
            digest.add(call.platform.map { UInt64($0.rawValue) } ?? .max)
            digest.add(UInt64(call.chunk))
            switch call.target {
            case .tags(let tags):
                digest.add(UInt64(tags.count))
                let text = span(tags)
                for index in text.indices { digest.add(text[index]) }
            case .broadcast: digest.add(UInt64.max)
            case .device: digest.add(UInt64.max - 1)
            // The handles are the request's own, in its order.
            case .devices(let handles): digest.add(UInt64.max - 1 - UInt64(handles.count))
            }
        }
        return digest.value
    }

    private struct Digest {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325

        mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

        mutating func add(_ number: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
        }
    }
}
