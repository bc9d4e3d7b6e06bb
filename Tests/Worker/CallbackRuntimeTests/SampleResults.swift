import ResultFeed
import Testing
import Webhooks

/// A result at a place, of a request of its own unless one is named.
func sample(
    _ offset: Int64, in partition: Int32 = 0, request: String? = nil, key: String? = nil, source: String = "shop"
) throws -> FeedRecord {
    let request = request ?? "q\(partition)-\(offset)"
    let json =
        #"{"result_id":"r\#(partition)-\#(offset)","request_id":"\#(request)","source":"\#(source)","kind":"final","#
        + #""state":"sent","outcome":"success","hub":"main"}"#
    return try #require(
        FeedRecord(
            key: key ?? request, json: Array(json.utf8), partition: partition, offset: offset,
            timestamp: 1_700_000_000_000 + offset))
}

/// A receiver with a secret.
func sampleReceiver(_ name: String = "orders", url: String = "https://example.com/hooks") throws -> Receiver {
    Receiver(name: name, url: try #require(ReceiverURL(url)), secrets: [try sampleSecret("a")])
}

/// A secret, of 32 bytes that are all the same.
func sampleSecret(_ letter: Character) throws -> WebhookSecret {
    try #require(WebhookSecret("whsec_" + String(repeating: letter, count: 42) + "8="))
}
