import GatewayAPI
import ResultFeed

/// Placeholder.
enum FeedAPIStart {}
