import Testing

/// Placeholder.
struct ResultFeedTestsStart {}
