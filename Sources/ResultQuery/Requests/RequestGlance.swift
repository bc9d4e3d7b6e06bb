import Basics
import PushModel

/// Looks at a record's bytes for what a filter wants, to pass over most records without reading them.
struct RequestGlance {
    init(_ filter: ResultFilter, sought: [Sought], readingTitles readsTitles: Bool, seekingPossible seeksPossible: Bool) {}

    func rulesOut(_ json: Span<UInt8>, mayHaveHeaders: Bool) -> Bool { false }
}
