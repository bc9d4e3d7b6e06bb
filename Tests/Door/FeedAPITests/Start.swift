import Testing

/// Placeholder.
struct FeedAPITestsStart {}
