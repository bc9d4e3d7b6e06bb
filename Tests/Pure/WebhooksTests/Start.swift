import Testing

/// Placeholder.
struct WebhooksTestsStart {}
