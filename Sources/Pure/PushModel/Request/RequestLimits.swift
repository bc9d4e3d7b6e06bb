/// The limits of a request's fields (page Requests): the reader checks by them, and the schema names them.
///
/// Lengths are in Unicode scalars. They are computed, so that each is a constant where the reader compares.
enum RequestLimits {
    static var identifier: ClosedRange<Int> { 1...128 }
    static var source: ClosedRange<Int> { 1...256 }
    /// A tenant or a hub.
    static var slug: ClosedRange<Int> { 1...63 }
    static var platforms: ClosedRange<Int> { 1...8 }
    static var platformName: ClosedRange<Int> { 1...32 }
    /// Seconds; 28 days at most.
    static var timeToLive: ClosedRange<Int64> { 0...2_419_200 }
    /// APNs counts 64 bytes, and the key travels in headers: hence ASCII.
    static var collapseKey: ClosedRange<Int> { 1...64 }
    static var orderingKey: ClosedRange<Int> { 1...256 }
    static var dedupeKey: ClosedRange<Int> { 1...128 }
    /// Seconds; 7 days at most.
    static var dedupeWindow: ClosedRange<Int64> { 1...604_800 }
    static var attempts: ClosedRange<Int64> { 1...20 }
    static var labels: Map { Map(members: 0...16, nameLength: 32, valueLength: 64) }
    static var template: Map { Map(members: 1...64, nameLength: 120, valueLength: 2048) }

    // Audiences.
    static var recipients: ClosedRange<Int> { 1...10_000 }
    static var categories: ClosedRange<Int> { 1...200 }
    /// A tag or an installation's id.
    static var tag: ClosedRange<Int> { 1...TagText.maximumLength }
    static var tagExpression: ClosedRange<Int> { 1...4096 }

    // Messages and payloads.
    /// A title or a subtitle.
    static var title: ClosedRange<Int> { 0...256 }
    static var body: ClosedRange<Int> { 0...2048 }
    static var imageURL: ClosedRange<Int> { 1...2048 }
    static var deepLink: ClosedRange<Int> { 0...2048 }
    static var sound: ClosedRange<Int> { 0...128 }
    static var badge: ClosedRange<Int64> { 0...99_999 }
    /// A category of actions or a thread.
    static var group: ClosedRange<Int> { 0...64 }
    static var data: Map { Map(members: 0...64, nameLength: 128, valueLength: 2048) }
    static var payloads: ClosedRange<Int> { 1...8 }
    static var headers: Map { Map(members: 0...16, nameLength: 128, valueLength: 512) }

    // Replays.
    static var generation: ClosedRange<Int64> { 1...1000 }
    static var actor: ClosedRange<Int> { 0...128 }
    static var reason: ClosedRange<Int> { 0...512 }
    static var parentOrigin: ClosedRange<Int> { 1...300 }
    static var modified: ClosedRange<Int> { 0...32 }
    static var modification: ClosedRange<Int> { 0...128 }
    static var sends: ClosedRange<Int> { 0...256 }
    static var sendIndex: ClosedRange<Int64> { 0...255 }

    /// The limits of a flat object of strings.
    struct Map {
        let members: ClosedRange<Int>
        let nameLength: Int
        let valueLength: Int
    }
}
