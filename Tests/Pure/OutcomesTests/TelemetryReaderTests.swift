import PushModel
import TestSupport
import Testing

@testable import Outcomes

struct TelemetryReaderTests {
    @Test func aHubsAnswerIsRead() throws {
        let read = try telemetry(Specimen.completed)
        #expect(read.notificationID == "4995f50796f046d6a61aa7580af3c9c7-20260101000000-586152-24")
        #expect(read.state == .completed)
        #expect(
            read.counts == [
                .init(platform: "apple", outcome: .known(.success), count: 2),
                .init(platform: "apple", outcome: .known(.expiredChannel), count: 1),
            ])
        #expect(read.successCount == 2 && read.failureCount == 1)
        #expect(read.errorDetails?.uri == "http://127.0.0.1/blobs/errors/x?sv=2015-02-21&sr=b&sig=s3cret%3D")
    }

    @Test(
        arguments: [
            ("Enqueued", .enqueued, "Enqueued", false),
            ("DetailedStateAvailable", .detailedStateAvailable, "DetailedStateAvailable", false),
            ("Scheduled", .scheduled, "Scheduled", false), ("Processing", .processing, "Processing", false),
            ("Completed", .completed, "Completed", true), ("Abandoned", .abandoned, "Abandoned", true),
            ("Unknown", .unknown, "Unknown", false), ("NoTargetFound", .noTargetFound, "NoTargetFound", true),
            ("Canceled", .canceled, "Canceled", true), ("Cancelled", .canceled, "Canceled", true),
            ("cOMPLETED", .completed, "Completed", true), ("cancelled", .canceled, "Canceled", true),
            ("Postponed", .other("Postponed"), "Postponed", false),
        ] as [(String, NotificationState, String, Bool)])
    func everyStateIsUnderstood(word: String, state: NotificationState, shown: String, isFinal: Bool) throws {
        let read = try telemetry(Specimen.details("<State> \(word)\n</State>")).state
        #expect(read == state)
        #expect(read?.word == shown)
        #expect(read?.isFinal == isFinal)
    }

    @Test func everyDocumentedStateIsInTheTable() {
        #expect(NotificationState.documented.count == 9)
        for state in NotificationState.documented { #expect(NotificationState(word: state.word) == state) }
    }

    @Test(
        arguments: [
            ("Success", .success), ("AbandonedNotificationMessages", .ambiguous), ("BadChannel", .permanent),
            ("ChannelDisconnected", .transient), ("ChannelThrottled", .throttled), ("Dropped", .transient),
            ("ExpiredChannel", .permanent), ("InvalidCredentials", .auth), ("InvalidNotificationFormat", .payload),
            ("InvalidNotificationSize", .payload), ("InvalidToken", .auth), ("NoTargets", .noTarget),
            ("PnsInterfaceError", .ambiguous), ("PnsServerError", .ambiguous), ("PnsUnavailable", .transient),
            ("PnsUnreachable", .ambiguous), ("RefreshToken", .transient), ("Skipped", .duplicate), ("Throttled", .throttled),
            ("TokenProviderInterfaceError", .transient), ("TokenProviderUnreachable", .transient), ("UnknownError", .ambiguous),
            ("WrongChannel", .permanent), ("WrongToken", .permanent), ("Melted", .ambiguous), ("success", .ambiguous),
        ] as [(String, Outcome)])
    func everyOutcomeNameHasItsClass(word: String, outcome: Outcome) throws {
        let read = try telemetry(Specimen.details(Specimen.list("FcmV1", [(word, 3)])))
        let count = try #require(read.counts.first)
        #expect(count.platform == "fcmv1" && count.count == 3 && count.outcome.word == word)
        #expect(count.outcome.outcome == outcome)
        let isKnown = !["Melted", "success"].contains(word)
        #expect((PNSOutcome.Name(rawValue: word) != nil) == isKnown)
        #expect(
            count.outcome.isHandleDead == ["BadChannel", "ExpiredChannel", "WrongToken", "WrongChannel"].contains(word))
        #expect(read.successCount == (outcome == .success ? 3 : 0))
        #expect(read.failureCount == ([.success, .duplicate].contains(outcome) ? 0 : 3))
    }

    @Test func thereAreNoMoreOutcomeNames() { #expect(PNSOutcome.Name.allCases.count == 24) }

    @Test(arguments: [
        ("Apns", "apple"), ("Wns", "windows"), ("Mpns", "windowsphone"), ("Gcm", "gcm"), ("Fcm", "gcm"), ("FcmV1", "fcmv1"),
        ("Adm", "adm"), ("Baidu", "baidu"), ("Browser", "browser"), ("Xiaomi", "xiaomi"), ("Pigeon2", "pigeon2"),
        ("a:Apns", "apple"),
    ])
    func everyListHasItsPlatform(prefix: String, platform: String) throws {
        let read = try telemetry(Specimen.details(Specimen.list(prefix, [("Success", 1), ("Success", 2)])))
        #expect(read.counts.map(\.platform) == [platform, platform])
        #expect(read.successCount == 3)
    }

    @Test func theSecondNameOfOneListAddsNothing() throws {
        let lists = Specimen.list("Gcm", [("Success", 4)]) + Specimen.list("Fcm", [("Success", 4)])
        #expect(try telemetry(Specimen.details(lists)).successCount == 4)
    }

    @Test(
        arguments: [
            ("<NotificationDetails/>", nil, 0), ("\u{FEFF} <NotificationDetails />\n<!-- end -->", nil, 0),
            (
                "<?xml version='1.0'?><n:NotificationDetails a='>' n:b=\"/\" ><n:State >Completed</n:State ></n:NotificationDetails>",
                .completed, 0
            ),
            (Specimen.details("<State/>"), nil, 0), (Specimen.details("<State i:nil=\"true\"></State>"), nil, 0),
            (Specimen.details("<State><![CDATA[Completed]]></State>"), .completed, 0),
            (Specimen.details("<State>Com&#112;lete&#x64;</State>"), .completed, 0),
            (Specimen.details("<!--a--><New><State>Unknown</State><![CDATA[</]]>&b</New><State>Enqueued</State>"), .enqueued, 0),
            (Specimen.details("<ApnsOutcomeCounts/>"), nil, 0),
            (
                Specimen.details(
                    "<ApnsOutcomeCounts><Sum>7</Sum><Outcome><Count>1</Count><X/><Name>Success</Name></Outcome>"
                        + "</ApnsOutcomeCounts>"), nil, 1
            ),
            (Specimen.details("<PnsErrorDetailsUri>javascript:x</PnsErrorDetailsUri><PnsErrorDetails/>"), nil, 0),
        ] as [(String, NotificationState?, Int)])
    func everySpellingOfXMLIsRead(text: String, state: NotificationState?, successes: Int) throws {
        let read = try telemetry(text)
        #expect(read.state == state && read.successCount == successes && read.errorDetails == nil)
    }

    @Test(
        arguments: [
            ("", .malformed(offset: 0)), ("x", .malformed(offset: 0)), ("<", .malformed(offset: 1)),
            ("<NotificationDetails", .malformed(offset: 20)), ("<NotificationDetails>", .malformed(offset: 21)),
            ("<NotificationDetails></Notification>", .malformed(offset: 23)),
            ("<NotificationDetails a></NotificationDetails>", .malformed(offset: 22)),
            ("<NotificationDetails a='x'b='y'/>", .malformed(offset: 26)),
            ("<NotificationDetails a='<'/>", .malformed(offset: 24)), ("<NotificationDetails / >", .malformed(offset: 22)),
            ("<NotificationDetails/><x/>", .malformed(offset: 23)), ("<NotificationDetails/>x", .malformed(offset: 22)),
            ("<1/>", .malformed(offset: 1)), ("<!-- ", .malformed(offset: 5)),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><NotificationDetails/>", .documentType),
            ("<Error><Code>404</Code></Error>", .otherRoot), ("<html><body/></html>", .otherRoot),
            (Specimen.details(String(repeating: "<a>", count: 16)), .tooDeep),
            (Specimen.details("text"), .unexpected("NotificationDetails")),
            (Specimen.details("<![CDATA[ ]]>"), .unexpected("NotificationDetails")),
            (Specimen.details("<State>Completed</State><State>Completed</State>"), .unexpected("State")),
            (Specimen.details("<State>Completed<b/></State>"), .unexpected("State")),
            (Specimen.details("<State>not a word</State>"), .invalidWord),
            (Specimen.details("<State>\(String(repeating: "x", count: 65))</State>"), .unexpected("State")),
            (Specimen.details("<State>\(String(repeating: " ", count: 2000))</State>"), .unexpected("State")),
            (Specimen.details("<State>&nbsp;</State>"), .malformed(offset: 28)),
            (Specimen.details("<State>&</State>"), .malformed(offset: 28)),
            (Specimen.details("<State>&#xD800;</State>"), .malformed(offset: 28)),
            (Specimen.details("<State>&#-1;</State>"), .malformed(offset: 28)),
            (Specimen.details("<State>&#0;</State>"), .unexpected("State")),
            (Specimen.details("<OutcomeCounts/><é-OutcomeCounts/>"), .invalidWord),
            (Specimen.details(Specimen.list("Apns", []) + Specimen.list("Apns", [])), .unexpected("OutcomeCounts")),
            (Specimen.details(Specimen.list("Apns", [("Success", -1)])), .invalidCount),
            (
                Specimen.details("<ApnsOutcomeCounts><Outcome><Name>Success</Name><Count></Count></Outcome></ApnsOutcomeCounts>"),
                .invalidCount
            ),
            (
                Specimen.details(
                    "<ApnsOutcomeCounts><Outcome><Name>a</Name><Count>9223372036854775808</Count></Outcome>"
                        + "</ApnsOutcomeCounts>"), .invalidCount
            ),
            (
                Specimen.details("<ApnsOutcomeCounts><Outcome><Name>Success</Name></Outcome></ApnsOutcomeCounts>"),
                .unexpected("Outcome")
            ),
            (
                Specimen.details("<ApnsOutcomeCounts><Outcome><Name>a</Name><Name>a</Name></Outcome></ApnsOutcomeCounts>"),
                .unexpected("Name")
            ),
            (Specimen.details(Specimen.list("Apns", [("", 1)])), .invalidWord),
            (Specimen.details(Specimen.list("Apns", (0...512).map { ("N\($0)", 1) })), .tooManyCounts),
        ] as [(String, TelemetryFault)])
    func whatIsNoTelemetryIsRefused(text: String, fault: TelemetryFault) {
        #expect(throws: fault) { try telemetry(text) }
        #expect(!fault.description.isEmpty)
    }

    @Test func telemetryThatIsTooLargeIsRefused() {
        let spaces = String(repeating: " ", count: NotificationTelemetry.maximumByteCount)
        #expect(throws: TelemetryFault.tooLarge) { try telemetry(Specimen.details(spaces)) }
    }

    @Test func sumsStayInsideTheirBounds() throws {
        let counts = [("Success", Int.max), ("Success", 5), ("Throttled", Int.max), ("Throttled", Int.max)]
        let read = try telemetry(Specimen.details(Specimen.list("Apns", counts)))
        #expect(read.successCount == .max && read.failureCount == .max)
    }

    @Test func noDescriptionShowsTheLinksSignature() throws {
        let read = try telemetry(Specimen.completed)
        var dumped = ""
        dump(read, to: &dumped)
        for text in ["\(read)", String(reflecting: read), dumped] { #expect(!text.contains("s3cret")) }
    }

    /// What was read, as a hub could have written it.
    private static func written(_ read: NotificationTelemetry) -> String {
        var platforms: [String] = []
        for count in read.counts where platforms.last != count.platform { platforms.append(count.platform) }
        let lists = platforms.map { platform in
            Specimen.list(platform, read.counts.filter { $0.platform == platform }.map { ($0.outcome.word, $0.count) })
        }
        return Specimen.details(
            (read.notificationID.map { "<NotificationId>\(escaped($0))</NotificationId>" } ?? "")
                + (read.state.map { "<State>\($0.word)</State>" } ?? "") + lists.joined()
                + (read.errorDetails.map { "<PnsErrorDetailsUri>\(escaped($0.uri))</PnsErrorDetailsUri>" } ?? ""))
    }

    /// Of texts that are nearly telemetry.
    @Test(arguments: 0..<40)
    func whatIsReadIsReadAgainAndAFaultLiesInTheText(seed: Int) {
        var random = SeededRandom(seed)
        let pieces = [
            "<NotificationDetails>", "</NotificationDetails>", "<State>", "</State>", "Completed", "<ApnsOutcomeCounts>",
            "</ApnsOutcomeCounts>", "<Outcome>", "</Outcome>", "<Name>", "</Name>", "Success", "<Count>", "</Count>", "7",
            "<a b='",
            "'/>", "&amp;", "&#x", ";", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "<!", "<", ">", "/", "é", "\u{0}", " ",
        ]
        var readCount = 0
        for round in 0..<300 {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = Array((0..<random.below(30)).map { _ in pieces[random.below(pieces.count)] }.joined().utf8)
            } else {
                bytes = Array(Specimen.completed.utf8)
                for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
                if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            }
            do throws(TelemetryFault) {
                let read = try NotificationTelemetry(reading: bytes.span)
                readCount += 1
                #expect((try? telemetry(Self.written(read))) == read)
            } catch {
                if case .malformed(let offset) = error { #expect((0...bytes.count).contains(offset)) }
            }
        }
        #expect(readCount > 0)
    }
}
