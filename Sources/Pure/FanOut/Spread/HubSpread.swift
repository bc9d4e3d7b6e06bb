import Basics

/// Several hubs that share their users: which hub a user's devices are registered with, and so are sent through.
///
/// Rendezvous hashing (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998): of all hubs the one with the
/// highest weight for the name has it. So a hub that is added takes its part evenly from all others, and no name moves between those.
/// Whoever registers devices has to choose the same hub, so this is a contract:
///
/// - `h(text)` is the 64-bit FNV-1a hash of the text's composed UTF-8 (Unicode NFC), of which ASCII letters count as small ones;
/// - the weight of a hub for a name is `mix(h(name) xor mix(h(hub)))`, an unsigned number, and of equal ones the hub with the smaller
///   name in the order of its bytes wins;
/// - `mix` is the finalizer of SplitMix64: `z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31`.
public struct HubSpread: Sendable, Equatable {
    /// The names of the hubs, in the order in which they were given.
    public let hubs: [String]
    private let seeds: [UInt64]
    /// The places of the hubs in the order of their names.
    private let order: [Int]

    /// A spread over hubs by their names, at least one, each once.
    public init(_ hubs: [String]) {
        self.hubs = hubs
        seeds = hubs.map { Self.mix(Self.hash(Array($0.utf8).span)) }
        order = hubs.indices.sorted { hubs[$0].utf8.lexicographicallyPrecedes(hubs[$1].utf8) }
    }

    /// The hub of a name, as a place in `hubs`.
    public func hub(of name: Span<UInt8>) -> Int {
        let hash = Self.hash(name)
        var best = (weight: UInt64(0), hub: order.first ?? 0)
        for hub in order {
            let weight = Self.mix(hash ^ seeds[hub])
            if weight > best.weight { best = (weight, hub) }
        }
        return best.hub
    }

    private static func hash(_ text: Span<UInt8>) -> UInt64 {
        var seen: UInt8 = 0
        let hash = hash(text, seen: &seen)
        guard seen >= 0x80, let name = String(validating: text.indices.map { text[$0] }, as: UTF8.self) else { return hash }
        return self.hash(Array(UserName.composed(name).utf8).span, seen: &seen)
    }

    /// Hashes bytes, and notes in `seen` the bits that they have.
    private static func hash(_ text: Span<UInt8>, seen: inout UInt8) -> UInt64 {
        var hash = FNV1a()
        for index in text.indices {
            seen |= text[index]
            hash.add(text[index].lowercased)
        }
        return hash.value
    }

    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
