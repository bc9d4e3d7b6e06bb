import CallbackRecords
import Webhooks

/// Placeholder.
enum CallbackRuntimeStart {}
