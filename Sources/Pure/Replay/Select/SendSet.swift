/// A set of a request's hub calls: their indices in its plan, as `sends[].index` of a result has them.
public struct SendSet: Sendable, Hashable {
    /// The bound that indices are below. A result has 200 sends at most.
    public static let capacity = 256

    private var words: SIMD4<UInt64>

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// No send.
    public init() { words = .zero }

    /// The sends with these indices. Those out of range are left out.
    public init(_ indices: some Sequence<Int>) {
        words = .zero
        for index in indices { insert(index) }
    }

    /// Every send there could be: a request as a whole, when none of its calls was made.
    public static let all = SendSet(words: SIMD4(repeating: .max))

    /// Adds a send.
    public mutating func insert(_ index: Int) {
        guard (0..<Self.capacity).contains(index) else { return }
        words[index / 64] |= 1 << UInt64(index % 64)
    }

    /// True if the send is in the set.
    public func contains(_ index: Int) -> Bool {
        (0..<Self.capacity).contains(index) && words[index / 64] & 1 << UInt64(index % 64) != 0
    }

    /// True if there is no send.
    public var isEmpty: Bool { words == .zero }

    /// The sends of either set.
    public func union(_ other: SendSet) -> SendSet { SendSet(words: words | other.words) }

    /// The sends of both sets.
    public func intersection(_ other: SendSet) -> SendSet { SendSet(words: words & other.words) }

    /// The sends that the other set does not have.
    public func subtracting(_ other: SendSet) -> SendSet { SendSet(words: words & ~other.words) }

    /// The indices in ascending order.
    public var indices: [Int] { (0..<Self.capacity).filter(contains) }
}
