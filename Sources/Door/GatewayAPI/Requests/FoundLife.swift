import Jobs

/// The facts of a request beside those that this gateway remembers.
enum FoundLife: Sendable {
    case life(RequestLife)
    case whereabouts(WhereaboutsReport)
    case nothing
}
