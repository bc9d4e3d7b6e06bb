import PushModel
import TestSupport
import Testing

@testable import Outcomes

struct RefusedDeviceTests {
    private static let head = #"<?xml version="1.0" encoding="utf-16"?>"#

    private func entry(_ outcome: String, _ platform: String, _ handle: String, _ more: String = "") -> String {
        Self.head + #"<PnsFeedback xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
            + "<FeedbackTime>2026-01-01T00:00:00.1230000Z</FeedbackTime><NotificationSystemError>\(outcome)"
            + "</NotificationSystemError><Platform>\(platform)</Platform><PnsHandle>\(handle)</PnsHandle>\(more)</PnsFeedback>\n"
    }

    private func read(_ text: String) -> RefusedDeviceList {
        let bytes = Array(text.utf8)
        return RefusedDeviceList(reading: bytes.span)
    }

    @Test func everyDeviceOfABlobIsRead() throws {
        let more =
            "<RegistrationId>1-2-3</RegistrationId><InstallationId>i&amp;1</InstallationId><NotificationId>n-1</NotificationId>"
            + "<NewPnsHandle>new</NewPnsHandle><Later><a/></Later>"
        let list = read(
            entry("ExpiredChannel", "apns", "ABCD", more) + entry("Melted", "fcmv1", "x:y") + entry("Dropped", "WNS", "h"))
        try #require(list.fault == nil && list.devices.count == 3)
        let first = try #require(list.devices.first)
        #expect(first.outcome == .known(.expiredChannel) && first.outcome.isHandleDead && first.platform == "apple")
        #expect(first.handle == "ABCD" && first.newHandle == "new" && first.time?.milliseconds == 1_767_225_600_123)
        #expect(first.registrationID == "1-2-3" && first.installationID == "i&1" && first.notificationID == "n-1")
        #expect(list.devices[1].outcome == .other("Melted") && list.devices[1].platform == "fcmv1")
        #expect(list.devices[2].platform == "windows" && list.devices[2].registrationID == nil)
    }

    @Test func anEmptyBlobNamesNobody() {
        for text in ["", "\n", "<!-- nobody -->"] {
            let list = read(text)
            #expect(list.devices.isEmpty && list.fault == nil)
        }
    }

    @Test(
        arguments: [
            ("<PnsFeedback><Platform>apns", .malformed(offset: 27)), ("<", .malformed(offset: 1)), ("<Other/>", .otherEntry),
            ("<PnsFeedback/>", .unexpected("PnsFeedback")), ("<!DOCTYPE a>", .documentType),
            ("<PnsFeedback><Platform>a</Platform><Platform>a</Platform></PnsFeedback>", .unexpected("Platform")),
            (
                "<PnsFeedback><Platform>a b</Platform><PnsHandle>h</PnsHandle><NotificationSystemError>e</NotificationSystemError>"
                    + "</PnsFeedback>", .invalidWord
            ),
            (
                "<PnsFeedback><PnsHandle>\(String(repeating: "h", count: 4097))</PnsHandle></PnsFeedback>",
                .unexpected("PnsHandle")
            ),
        ] as [(String, TelemetryFault)])
    func whatStandsBeforeAFaultIsKept(text: String, fault: TelemetryFault) {
        let alone = read(text)
        #expect(alone.devices.isEmpty && alone.fault == fault)
        let whole = entry("BadChannel", "gcm", "h")
        let behind = read(whole + text)
        #expect(behind.devices.count == 1)
        if case .malformed(let offset) = fault {
            #expect(behind.fault == .malformed(offset: offset + whole.utf8.count))
        } else {
            #expect(behind.fault == fault)
        }
    }

    @Test func noDescriptionShowsAHandle() {
        let list = read(entry("BadChannel", "gcm", "s3cret", "<NewPnsHandle>s3cret</NewPnsHandle>"))
        var dumped = ""
        dump(list, to: &dumped)
        for text in ["\(list)", String(reflecting: list), dumped] { #expect(!text.contains("s3cret")) }
        #expect(list.devices.count == 1)
    }

    @Test(arguments: 0..<20)
    func upToItsFaultABlobHasTheDevicesThatItsPiecesHave(seed: Int) {
        var random = SeededRandom(seed)
        let first = entry("BadChannel", "gcm", "h")
        for _ in 0..<200 {
            var bytes = Array((first + entry("Throttled", "apns", "i")).utf8)
            let places = (0...random.below(3)).map { _ in random.below(bytes.count) }
            for place in places { bytes[place] = UInt8(random.below(256)) }
            bytes.removeLast(random.below(bytes.count))
            let (list, piece) = (RefusedDeviceList(reading: bytes.span), FeedbackPiece(reading: bytes.span))
            #expect(piece.devices.starts(with: list.devices))
            if list.fault?.isOfContent != true { #expect(piece.devices == list.devices && piece.unreadableCount == 0) }
            if case .malformed(let offset) = list.fault { #expect((piece.byteCount...bytes.count).contains(offset)) }
            let isFirstWhole = (places + [bytes.count]).allSatisfy { $0 >= first.utf8.count }
            if isFirstWhole { #expect(list.devices.first == read(first).devices.first) }
        }
    }
}
