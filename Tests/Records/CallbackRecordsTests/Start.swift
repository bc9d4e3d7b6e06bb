import Testing

/// Placeholder.
struct CallbackRecordsTestsStart {}
