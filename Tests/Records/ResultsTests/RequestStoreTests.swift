import Foundation
import Kafka
import PushModel
import ResultQuery
import SQLite
import TestSupport
import Testing

@testable import Results

/// The files of an index of requests: secrets, bounds, damage and other owners.
@Suite struct RequestStoreTests {
    private typealias Stage = RequestIndexStage
    private static let (now, hour) = (Stage.now, Stage.hour)
    private static let secret = RequestIndexSettings.Names.encrypted(secret: Array(repeating: 7, count: 32))

    @Test(arguments: [(.plain, true), (secret, false), (.omitted, false)] as [(RequestIndexSettings.Names, Bool)])
    func namesAndTitlesStandInTheFilesByTheRule(names: RequestIndexSettings.Names, areReadable: Bool) throws {
        let stage = try Stage(names)
        try stage.add([(Stage.request("a", #","labels":{"team":"blue"}"#), Self.now - 10)])
        let bytes = try stage.bytes()
        for text in ["alice", "Order"] { #expect((bytes.range(of: Data(text.utf8)) != nil) == areReadable, "\(text)") }
        #expect(bytes.range(of: Data("phone".utf8)) == nil)
        let rows = try stage.index().rows(
            matching: ResultFilter("label.team:blue", now: 0), since: 0, through: .max, isPossible: false, limit: 5)
        #expect(rows.map(\.facts.id) == ["a"])
        #expect(rows.first?.facts.audience.count == 1)
        #expect(rows.first?.facts.audience.names == (names == .omitted ? [] : ["alice"]))
        #expect(rows.first?.facts.title == (names == .omitted ? nil : "Order shipped"))
    }

    @Test func whatIsLeftOutIsNotKnown() throws {
        let stage = try Stage(.omitted)
        try stage.add([(Stage.request("a"), Self.now - 10)])
        for subject in [Sought.Subject.user, .device, .title, .anything] {
            #expect(try !stage.index().knows(Stage.seeking(subject, "alice")), "\(subject)")
            #expect(try stage.ids(Stage.seeking(subject, "alice")) == [])
        }
        #expect(try stage.index().knows(Stage.seeking(.audience, "users")) && stage.index().knows(ResultFilter()))
    }

    @Test func theFolderIsItsOwnersAlone() throws {
        let stage = try Stage()
        try stage.add([(Stage.request("a"), Self.now - 10)])
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(stage.settings.folder) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: stage.settings.folder) {
            #expect(try mode(stage.settings.folder + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test func itGoesOnWhereItEnded() throws {
        let stage = try Stage()
        try stage.add([(Stage.request("a"), Self.now - 10)])
        let positions = [
            TopicPartition(topic: "normal", partition: 2): IndexPosition(next: 6, witness: .init(offset: 4, time: Self.now)),
            TopicPartition(topic: "own", partition: 0): IndexPosition(next: 0),
        ]
        try stage.opened.save(positions)
        let since = try stage.opened.since
        try stage.open()
        let store = try stage.opened
        #expect(try store.positions() == positions && store.cluster() == Array("c".utf8))
        #expect(store.since == since && store.floor == since && store.count == 1)
        #expect(try stage.ids(Stage.seeking(.user, "alice")) == ["a"])
    }

    @Test(arguments: ["names", "secret", "topics", "version"])
    func anIndexOfOtherSettingsIsMadeAgain(change: String) throws {
        let stage = try Stage(change == "secret" ? Self.secret : .plain)
        try stage.add([(Stage.request("a"), Self.now - 10)])
        switch change {
        case "names": stage.settings.names = .omitted
        case "secret": stage.settings.names = .encrypted(secret: Array(repeating: 8, count: 32))
        default: break
        }
        let epoch = try stage.opened.epoch
        if change == "version" {
            try stage.close()
            try Database(path: stage.settings.folder + "/state.sqlite", waiting: .seconds(5)).execute("PRAGMA user_version = 99")
        }
        try stage.open(topics: change == "topics" ? ["other"] : Stage.topics)
        let store = try stage.opened
        #expect(store.epoch != epoch && store.since == nil && store.count == 0 && store.files.isEmpty)
        #expect(try store.positions().isEmpty && store.cluster() == nil)
    }

    @Test func aFolderOfSomebodyElseIsLeftAlone() throws {
        for name in ["notes.txt", "state.sqlite"] {
            let folder = try TemporaryFolder()
            let path = folder.path("requests")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data("precious".utf8).write(to: URL(fileURLWithPath: path + "/" + name))
            let failure = #expect(throws: IndexFailure.self) {
                try RequestStore(RequestIndexSettings(folder: path), topics: Stage.topics)
            }
            if case .absence(.foreign) = failure {} else { Issue.record("\(name): \(String(describing: failure))") }
            #expect(try String(contentsOfFile: path + "/" + name, encoding: .utf8) == "precious")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [name])
        }
    }

    @Test func oldHoursLeaveAndAreNoMorePromised() throws {
        let stage = try Stage()
        let (now, hour) = (Self.now, Self.hour)
        try stage.add((1...5).map { (Stage.request("r\($0)"), now - Int64($0) * hour) })
        let store = try stage.opened
        try store.removeOld(before: now - 3 * hour, byteLimit: .max, now: now)
        #expect(try stage.ids() == ["r1", "r2", "r3"] && store.since == now - 3 * hour && store.count == 3)
        // None of them takes a byte less than one page. The hour of now stays in any case.
        try stage.add([(Stage.request("r0"), now)])
        try store.removeOld(before: 0, byteLimit: 1, now: now)
        #expect(try stage.ids() == ["r0"] && store.since == now && store.floor == now)
        // A record of before does not make its hour again.
        try stage.add([(Stage.request("late"), now - hour)])
        #expect(try stage.ids() == ["r0"])
    }

    @Test func aDamagedHourIsGivenUpAndComesAgain() throws {
        let stage = try Stage()
        let (now, hour) = (Self.now, Self.hour)
        let requests = (1...3).map { (json: Stage.request("r\($0)"), time: now - Int64($0) * hour) }
        try stage.add(requests, from: 0)
        let damaged = IndexHour.hour(of: now - 2 * hour)
        let before = try stage.opened.since
        try stage.close()
        try Data(repeating: 0x5A, count: 8192).write(
            to: URL(fileURLWithPath: IndexFolder.path(of: damaged, in: stage.settings.folder)))
        try stage.open()
        // No variable holds the store: it has to be closed before the folder is opened again.
        #expect(try stage.opened.takeGivenUp() == [damaged])
        #expect(try stage.opened.since == now - hour && stage.opened.floor == before)
        #expect(try stage.ids() == ["r1", "r3"])
        #expect(try stage.add(requests, from: 0) == [])
        try stage.opened.finishRefilling()
        #expect(try stage.ids() == ["r1", "r2", "r3"] && stage.opened.since == before)
        // Where it does not come again, the promise stays shorter.
        try stage.opened.giveUp(damaged)
        try stage.opened.forgetGap()
        try stage.opened.finishRefilling()
        #expect(try stage.opened.since == now - hour)
        try stage.open()
        #expect(try stage.opened.since == now - hour && stage.opened.floor == now - hour)
    }

    /// Requests stand there that were published long before, too.
    @Test func anHourIsReadAgainFromTheOldestRequestThatIsDueInIt() throws {
        let stage = try Stage()
        let (now, hour) = (Self.now, Self.hour)
        let due = IndexHour.hour(of: now + 5 * hour)
        func delayed(_ id: String) -> String {
            var writer = ByteWriter()
            writer.append(Timestamp(milliseconds: IndexHour.start(of: due) + 60_000))
            return Stage.request(id, #","not_before":"\#(writer.text)""#)
        }
        #expect(try stage.opened.beginning(of: due) == IndexHour.start(of: due))
        try stage.add([(delayed("b"), now - 2 * hour), (Stage.request("c"), now - hour)])
        #expect(try stage.opened.beginning(of: due) == now - 2 * hour)
        try stage.add([(delayed("a"), now - 3 * hour)])
        try stage.add([(delayed("d"), now - 1)])
        for _ in 0..<2 {
            #expect(try stage.opened.beginning(of: due) == now - 3 * hour)
            // One without a delayed request begins with itself.
            let plain = IndexHour.hour(of: now - hour)
            #expect(try stage.opened.beginning(of: plain) == IndexHour.start(of: plain))
            try stage.open()
        }
        // The damage does not make it forget, and the end of the hour does.
        try stage.opened.giveUp(due)
        #expect(try stage.opened.beginning(of: due) == now - 3 * hour)
        try stage.add([(delayed("e"), now)])
        try stage.opened.removeOld(before: IndexHour.start(of: due + 1), byteLimit: .max, now: now)
        #expect(try stage.opened.beginning(of: due) == IndexHour.start(of: due))
    }

    @Test func aQuestionNamesTheHourThatIsDamaged() throws {
        let stage = try Stage()
        try stage.add([(Stage.request("a"), Self.now - 10)])
        let hour = IndexHour.hour(of: Self.now - 10)
        try Database(path: IndexFolder.path(of: hour, in: stage.settings.folder), waiting: .seconds(5))
            .execute("UPDATE pack SET content = x'00'")
        let index = try stage.index()
        let error = #expect(throws: SQLiteError.self) {
            try index.rows(matching: ResultFilter(), since: 0, through: .max, isPossible: false, limit: 5)
        }
        #expect(error?.isDamage == true && index.damagedFile?.hour == hour)
    }

    @Test func anHourThatIsGoneIsNoFailure() throws {
        let stage = try Stage()
        try stage.add([(Stage.request("a"), Self.now - 10), (Stage.request("b"), Self.now - 2 * Self.hour)])
        let index = try stage.index()
        try stage.opened.giveUp(IndexHour.hour(of: Self.now - 10))
        let rows = try index.rows(matching: ResultFilter(), since: 0, through: .max, isPossible: false, limit: 5)
        #expect(rows.map(\.facts.id) == ["b"])
    }
}
