/// An account of the work that rewriting one expression takes: the tags that are looked at, each as often as that happens.
///
/// Rewriting is polynomial at best, and the text comes from strangers. So all steps are counted, and end where the account does: what was
/// rewritten so far means the same, and the caller decides by `isSpent` what that is worth.
final class SplitWork {
    /// The tags that are looked at to shorten and to split an expression, and as many again to keep its parts apart. Expressions of
    /// 320 tags that can be split were seen to take 1,300 to 72,000.
    static let limit = 200_000

    /// The tags looked at so far.
    private(set) var spent = 0
    private var end = SplitWork.limit

    /// True if the account is used up.
    var isSpent: Bool { spent >= end }

    /// Counts tags that are looked at now.
    func spend(_ count: Int) { spent += count }

    /// Allows the whole work again for the next step.
    func renew() { end = spent + Self.limit }
}
