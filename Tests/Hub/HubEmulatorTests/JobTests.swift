import HTTPServing
import HubAuth
import Testing

@testable import HubEmulator
@testable import HubServer

struct JobTests {
    private static let container = "http://127.0.0.1/storage/bulk"

    private static func job(_ type: String, output: String? = container, input: String? = nil) -> String {
        """
        <?xml version="1.0" encoding="utf-8"?><entry xmlns="\(XMLWriter.atom)"><content type="application/xml">\
        <NotificationHubJob xmlns="\(XMLWriter.serviceBus)"><Type>\(type)</Type>\
        \(output.map { "<OutputContainerUri><![CDATA[\($0)]]></OutputContainerUri>" } ?? "")\
        \(input.map { "<ImportFileUri><![CDATA[\($0)]]></ImportFileUri>" } ?? "")</NotificationHubJob></content></entry>
        """
    }

    private static func description(_ token: String, id: String? = nil, tags: String = "a") -> String {
        "<AppleRegistrationDescription xmlns=\"\(XMLWriter.serviceBus)\">\(id.map { "<RegistrationId>\($0)</RegistrationId>" } ?? "")"
            + "<Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    private func value(_ name: String, of response: HTTPServerResponse) -> String? {
        Markup.read(response.body)?.first { $0 == "NotificationHubJob" }?.value(name)
    }

    private func blob(_ hub: TestHub, _ path: String) throws -> String { try hub.call("GET", "/storage/bulk/\(path)").text }

    /// Submits a job, and returns its id and how it is told afterwards.
    private func submit(_ hub: TestHub, _ body: String) throws -> (id: String, told: HTTPServerResponse) {
        let submitted = try hub.call("POST", "jobs", [:], body)
        #expect(submitted.status == 201 && value("Status", of: submitted) == "Started")
        let id = try #require(value("JobId", of: submitted))
        #expect(submitted.headers["Location"] == "http://127.0.0.1/newshub/jobs/\(id)?api-version=2020-06")
        return (id, try hub.call("GET", "jobs/\(id)"))
    }

    @Test func whatIsExportedCanBeImported() throws {
        let hub = try TestHub()
        for index in 0..<150 {
            try hub.register("d\(index)", "gcm", tags: ["t"], templates: index == 0 ? ["n": "{\n\"a\":\"$(b)\"}"] : [:])
        }
        let (id, told) = try submit(hub, Self.job("ExportRegistrations", output: Self.container + "?sv=1&sig=x"))
        #expect(value("Status", of: told) == "Completed" && value("Progress", of: told) == "100")
        let path = "<d3p1:Key>OutputFilePath</d3p1:Key><d3p1:Value>newshub/\(id)/Output.txt</d3p1:Value>"
        #expect(told.text.contains(path) && !told.text.contains("FailedFilePath"))
        let file = try blob(hub, "newshub/\(id)/Output.txt")
        #expect(file.split(separator: "\n").count == 151)

        let other = try TestHub()
        #expect(try other.call("PUT", "/storage/bulk/in.txt", [:], file).status == 201)
        let imported = try submit(other, Self.job("ImportCreateRegistrations", input: Self.container + "/in.txt?sig=y"))
        #expect(try blob(other, "newshub/\(imported.id)/Output.txt").split(separator: "\n").count == 151)
        #expect(try blob(other, "newshub/\(imported.id)/Failed.txt").isEmpty)
        try other.send("gcm", to: "t", "{}")
        #expect(other.rung.count == 150)
    }

    @Test func registrationsAreUpdatedAndDeletedLineByLine() throws {
        let hub = try TestHub()
        let file = [Self.description("AA"), "<broken", "", Self.description("BB", tags: "a b")].joined(separator: "\r\n")
        try hub.call("PUT", "/storage/in", [:], file)
        let made = try submit(hub, Self.job("ImportCreateRegistrations", input: "http://127.0.0.1/storage/in"))
        let output = try blob(hub, "newshub/\(made.id)/Output.txt")
        #expect(output.hasPrefix("1,<AppleRegistrationDescription "))
        let failed = try blob(hub, "newshub/\(made.id)/Failed.txt").split(separator: "\n")
        #expect(failed.map { $0.prefix(2) } == ["2,", "4,"] && failed[1].contains("An invalid tag(s) 'a b'"))
        let id = try #require(output.firstMatch(of: /<RegistrationId>([\d-]+)</)?.1)

        try hub.call(
            "PUT", "/storage/in", [:],
            Self.description("CC", id: String(id), tags: "b") + "\n" + Self.description("DD", id: "1-1-1"))
        let updated = try submit(hub, Self.job("ImportUpdateRegistrations", input: "http://127.0.0.1/storage/in"))
        #expect(try blob(hub, "newshub/\(updated.id)/Failed.txt").hasPrefix("2,"))
        let now = try hub.call("GET", "registrations/\(id)")
        #expect(now.headers["ETag"] == "W/\"2\"" && now.text.contains("<DeviceToken>CC</DeviceToken>"))

        let deleted = try submit(hub, Self.job("ImportDeleteRegistrations", input: "http://127.0.0.1/storage/in"))
        #expect(value("Status", of: deleted.told) == "Completed")
        #expect(try hub.call("GET", "registrations/\(id)").status == 404)
        let list = try hub.call("GET", "jobs")
        #expect(
            list.text.matches(of: /<JobId>/).count == 3
                && list.headers["Content-Type"] == "application/atom+xml; type=feed; charset=utf-8")
    }

    @Test(arguments: [
        ("ExportRegistrations", "https://a.blob.core.windows.net/c?sig=x", nil, "The output container cannot be written"),
        ("ExportRegistrations", "http://127.0.0.1/devices", nil, "The output container cannot be written"),
        ("ImportCreateRegistrations", container, "https://a.blob.core.windows.net/c/in.txt", "The import file cannot be read"),
        ("ImportDeleteRegistrations", container, container + "/none", "The import file cannot be read"),
    ])
    func aJobWhoseStorageCannotBeReachedFails(_ type: String, _ output: String, _ input: String?, _ failure: String) throws {
        let (_, told) = try submit(TestHub(), Self.job(type, output: output, input: input))
        #expect(value("Status", of: told) == "Failed" && value("Failure", of: told) == failure)
        #expect(!told.text.contains("OutputProperties"))
    }

    @Test(arguments: [
        "", "<entry/>", job("ExportEverything"), job("ExportRegistrations", output: nil), job("ExportRegistrations", output: "c"),
        job("ImportCreateRegistrations"), job("ExportRegistrations").replacing(XMLWriter.atom, with: "http://example.com"),
        job("ExportRegistrations").replacing(XMLWriter.serviceBus, with: XMLWriter.atom),
        job("ExportRegistrations").replacing("</NotificationHubJob>", with: ""),
        job("ExportRegistrations").replacing("</entry>", with: ""),
    ])
    func whatIsNoJobIsRefused(_ body: String) throws {
        #expect(try TestHub().call("POST", "jobs", [:], body).status == 400)
    }

    @Test func jobsNeedManageAndTheStandardTier() throws {
        let listener = HubPolicy(name: "l", key: "k", rights: [.listen, .send])
        let hub = try TestHub { $0.policies.append(listener) }
        for (method, path) in [("POST", "jobs"), ("GET", "jobs"), ("GET", "jobs/x")] {
            #expect(try hub.call(method, path, [:], Self.job("ExportRegistrations"), policy: listener).status == 401)
            #expect(try TestHub { $0.tier = .basic }.call(method, path, [:], Self.job("ExportRegistrations")).status == 403)
        }
        #expect(try hub.call("GET", "jobs/x").status == 404)
        #expect(try hub.call("PUT", "jobs").headers["Allow"] == "POST, GET")
    }
}
