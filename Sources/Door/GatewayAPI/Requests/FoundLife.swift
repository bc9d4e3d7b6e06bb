package import Results

/// The facts of a request beside those that this gateway remembers.
package enum FoundLife: Sendable {
    case life(RequestLife)
    case whereabouts(WhereaboutsReport)
    case nothing
}
