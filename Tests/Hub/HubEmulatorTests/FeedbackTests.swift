import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

struct FeedbackTests {
    private func hub() throws -> TestHub {
        let hub = try TestHub()
        try hub.register("bob", "apns", tags: ["a"])
        try hub.register("tim", "fcmV1", tags: ["a"])
        hub.hub.script([
            try TelemetryScript(parsing: "refuse=ExpiredChannel,platform=apple"),
            try TelemetryScript(parsing: "refuse=WrongToken,platform=fcmv1"),
        ])
        return hub
    }

    /// Follows a link, as a client of the storage account does.
    private func get(_ hub: TestHub, _ link: String, below: String = "", more: String = "") -> HTTPServerResponse {
        let target = link.dropFirst("http://127.0.0.1".count)
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        return hub.hub.handle(HTTPServerRequest(method: "GET", target: target[..<mark] + below + target[mark...] + more))
    }

    private func details(_ hub: TestHub) throws -> String {
        let id = try TestHub.id(try hub.send("apple", to: "a"))
        return try #require(Markup.read(try hub.telemetry(id).body)?.value("PnsErrorDetailsUri"))
    }

    @Test func theRefusedDevicesOfOneNotificationAreListed() throws {
        let hub = try hub()
        let link = try details(hub)
        #expect(link.hasPrefix("http://127.0.0.1/blobs/errors/") && link.contains("sr=b&sp=r&se=2026-01-01T01%3A00%3A00Z&sig="))
        let id = try #require(hub.hub.calls().first?.notificationID)
        let answer = get(hub, link)
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/octet-stream")
        let registration = try #require(answer.text.firstMatch(of: /<RegistrationId>([0-9-]+)<\/RegistrationId>/)).1
        #expect(
            answer.text
                == #"<?xml version="1.0" encoding="utf-16"?><PnsFeedback xmlns:i="http://www.w3.org/2001/XMLSchema-instance" "#
                + #"xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
                + "<FeedbackTime>2026-01-01T00:00:00Z</FeedbackTime><NotificationSystemError>ExpiredChannel</NotificationSystemError>"
                + "<Platform>apns</Platform><PnsHandle>handle-bob</PnsHandle><RegistrationId>\(registration)</RegistrationId>"
                + "<InstallationId>bob</InstallationId><NotificationId>\(id)</NotificationId></PnsFeedback>\n")
    }

    @Test func theContainerHoldsADocumentForEveryDay() throws {
        let hub = try hub()
        try hub.send("apple", to: "a")
        try hub.send("fcmv1", to: "a")
        hub.advance(seconds: 86_400)
        try hub.send("apple", nil, ["ServiceBusNotification-DeviceHandle": "D1"], query: "?direct")
        let answer = try hub.call("GET", "feedbackcontainer?api-version=2015-01")
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "text/plain; charset=utf-8")
        let listing = get(hub, answer.text, more: "&restype=container&comp=list")
        let names = listing.text.matches(of: /<Name>([^<]*)<\/Name>/).map { String($0.1) }
        #expect(names == ["01012026-feedback.xml", "01022026-feedback.xml"])
        let length = get(hub, answer.text, below: "/01012026-feedback.xml").body.count
        #expect(
            listing.text.contains(
                "<Properties><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Content-Length>\(length)</Content-Length>"
            ))
        #expect(listing.text.hasSuffix("</Blobs><NextMarker></NextMarker></EnumerationResults>"))
        let first = get(hub, answer.text, below: "/01012026-feedback.xml").text.split(separator: "\n")
        #expect(first.count == 2 && first[1].contains("<Platform>fcmv1</Platform><PnsHandle>handle-tim</PnsHandle>"))
        let second = get(hub, answer.text, below: "/01022026-feedback.xml").text
        #expect(second.contains("<PnsHandle>D1</PnsHandle><NotificationId>"))
        #expect(get(hub, answer.text, below: "/01032026-feedback.xml").status == 404)
    }

    @Test func aLinkOpensOnlyWhatItWasMadeFor() throws {
        let hub = try hub()
        let (details, container) = (try details(hub), try hub.call("GET", "feedbackcontainer").text)
        let query = { (link: String) in link.drop { $0 != "?" } }
        let id = String(details.dropFirst("http://127.0.0.1/blobs/errors/".count).prefix { $0 != "?" })
        let signature = try #require(details.firstRange(of: "&sig="))
        for link in [
            "http://127.0.0.1/blobs/feedback\(query(details))", "http://127.0.0.1/blobs/errors/\(id)\(query(container))",
            "http://127.0.0.1/blobs/errors/\(id)", String(details[..<signature.lowerBound]), details + "x",
            details.replacing("se=2026", with: "se=2027"),
        ] {
            #expect(get(hub, link).status == 403, "\(link)")
        }
        #expect(get(hub, "http://127.0.0.1/blobs/other\(query(container))").status == 404)
        hub.advance(seconds: 3599)
        #expect(get(hub, details).status == 200 && get(hub, container).status == 200)
        hub.advance(seconds: 1)
        #expect(get(hub, details).status == 403 && get(hub, container).status == 403)
        let post = hub.hub.handle(HTTPServerRequest(method: "PUT", target: "/blobs/feedback"))
        #expect(post.status == 405)
    }

    @Test func aPartOfABlobCanBeAskedFor() throws {
        let hub = try TestHub()
        hub.hub.putFeedback("b.xml", bytes: Array("0123456789".utf8))
        let link = try hub.call("GET", "feedbackcontainer").text
        let target = link.dropFirst("http://127.0.0.1".count)
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        for (range, status, text) in [
            ("bytes=0-3", 206, "0123"), ("bytes=8-99", 206, "89"), ("bytes=4-", 206, "456789"), ("bytes=10-11", 416, ""),
            ("items=1-2", 200, "0123456789"), ("bytes=-3", 206, "789"),
        ] {
            let answer = hub.hub.handle(
                HTTPServerRequest(method: "GET", target: target[..<mark] + "/b.xml" + target[mark...], headers: ["Range": range]))
            #expect(answer.status == status && answer.text == text, "\(range): \(answer.status) \(answer.text)")
        }
    }

    @Test func aLongListComesInPages() throws {
        let hub = try TestHub()
        for number in 100..<350 { hub.hub.putFeedback("b\(number)&.xml", bytes: []) }
        let link = try hub.call("GET", "feedbackcontainer").text
        var names: [String] = []
        var marker = ""
        var pages = 0
        repeat {
            let page = get(hub, link, more: "&restype=container&comp=list&maxresults=1000&marker=\(marker)").text
            names += page.matches(of: /<Name>([^<]*)<\/Name>/).map { String($0.1) }
            marker = page.firstMatch(of: /<NextMarker>([^<]*)</).map { String($0.1).replacing("&amp;", with: "%26") } ?? ""
            pages += 1
        } while !marker.isEmpty && pages < 10
        #expect(pages == 3 && names == (100..<350).map { "b\($0)&amp;.xml" })
    }

    @Test func whatABlobHoldsCanBePutThere() throws {
        let hub = try TestHub()
        let link = try hub.call("GET", "feedbackcontainer").text
        for (method, body) in [("PUT", "a"), ("POST", "b"), ("POST", "c")] {
            let answer = hub.hub.handle(
                HTTPServerRequest(method: method, target: "/feedback/11212026/x.xml", body: Array(body.utf8)))
            #expect(answer.status == 204)
        }
        #expect(get(hub, link, below: "/11212026/x.xml").text == "abc")
        #expect(hub.hub.handle(HTTPServerRequest(method: "GET", target: "/feedback/x")).status == 405)
    }
}
