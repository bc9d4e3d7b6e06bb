import Testing

/// Placeholder.
struct CallbackRuntimeTestsStart {}
