import FanOut
import Foundation
import PushModel
import TestSupport
import Testing

@testable import Audiences
@testable import JobSupport

/// A file of an audience, before anything of it is written.
struct AudienceSurveyTests {
    private static func survey(_ text: String) throws -> AudienceSurvey {
        let folder = try TemporaryFolder()
        let path = folder.path("audience")
        try Data(text.utf8).write(to: URL(filePath: path))
        let json = #"{"id":"x","audience":{"users":["sample"]},"message":{"title":"T"}}"#
        let request = try AudienceRequest(Array(json.utf8), publishedAt: 0)
        return try AudienceSurvey(of: path, planner: FanOutPlanner(), request: request.request, over: nil)
    }

    @Test func everyNameCountsOnce() throws {
        let survey = try Self.survey("\u{FEFF}alice\r\nbob\n\nALICE\ncarol\nbob")
        #expect(survey.lines == 6 && survey.names == 3 && survey.duplicates == 2 && survey.faultCount == 0)
        #expect(survey.parts == 1 && survey.calls == 3)
        #expect((1...6).map { survey.skips($0) } == [false, false, true, true, false, true])
        #expect(survey.skips(7) && survey.kind == .names(.users))
    }

    @Test func handlesAreTheSameWhereTheirPlatformIs() throws {
        let survey = try Self.survey("apple,AA\napple,<a a>\nfcmv1,AA\nfcmv1,aa\nfcmv1,aa\n")
        #expect(survey.names == 3 && survey.duplicates == 2 && survey.parts == 2 && survey.calls == 2)
    }

    @Test func linesAtFaultAreTold() throws {
        let survey = try Self.survey("user\nalice\nb\tb\nbob\n" + String(repeating: "x", count: 256) + "\n")
        try #require(survey.names == 2 && survey.faultCount == 2 && survey.faults.count == 2)
        #expect(survey.faults[0].place.hasSuffix(":3") && survey.faults[1].place.hasSuffix(":5"))
    }

    @Test func whatIsNoFileOrHasNoLinesIsRefused() throws {
        #expect(throws: JobFailure.self) { _ = try Self.survey("a\n" + String(repeating: "x", count: 70_000)) }
        #expect(throws: JobFailure.self) { _ = try AudienceReader("/dev/null") }
        #expect(throws: JobFailure.self) { _ = try AudienceReader("/nowhere/at/all") }
    }

    /// Case counts in a name that is no tag, as it does in the tag that is made of it.
    @Test func namesThatAreNoTagsAreTheSameByteForByteOnceTheyAreComposed() throws {
        let long = String(repeating: "n", count: 112)
        let lines = [
            "Jürgen", "jürgen", "Ju\u{308}rgen", "Anna Meier", "anna meier", "Anna Meier", long, long.uppercased(), long,
        ]
        let survey = try Self.survey("user\n" + lines.joined(separator: "\n"))
        #expect(survey.faultCount == 0 && survey.names == 6 && survey.duplicates == 3)
        #expect((2...10).filter { survey.skips($0) } == [4, 7, 10])
    }

    @Test(arguments: 0..<10) func aLongFileIsReadWithoutLosingOrRepeatingALine(seed: Int) throws {
        var random = SeededRandom(seed)
        let names = (0..<30_000).map { "user-\($0)-" + String(repeating: "n", count: random.below(60)) }
        var lines = names
        // Some of them again, anywhere behind, in another case.
        for _ in 0..<500 { lines.insert(names[random.below(100)].uppercased(), at: 200 + random.below(lines.count - 200)) }
        let survey = try Self.survey(lines.joined(separator: random.below(2) == 0 ? "\n" : "\r\n"))
        #expect(survey.lines == lines.count && survey.names == names.count && survey.duplicates == 500)
        #expect(survey.parts == 300 && survey.calls == 4500)
        let kept = lines.indices.filter { !survey.skips($0 + 1) }.map { lines[$0].lowercased() }
        #expect(kept == names)
    }

    @Test func whatIsLookedUpTogetherHasItsFaultsAndRepetitionsInTheOrderOfLines() throws {
        let survey = try Self.survey("ann\nANN\nb\tb\nbob\n\"\"\nann\nc\tc\nbob")
        #expect(survey.names == 2 && survey.duplicates == 3 && survey.faultCount == 3)
        #expect(survey.faults.map { $0.place.split(separator: ":").last } == ["3", "5", "7"])
        #expect((1...8).filter { survey.skips($0) } == [2, 3, 5, 6, 7, 8])
    }

    @Test func namesWithEqualHashesAreToldApart() throws {
        var lines = DistinctLines(lineCount: 4)
        let names = ["a", "b", "c", "d"].map { Array($0.utf8) }
        for (index, name) in names.enumerated() {
            let isNew = lines.insert(DistinctLines.hash(name.span, 0), at: Int64(index)) {
                names.indices.contains(Int($0)) && names[Int($0)] == name
            }
            #expect(isNew)
        }
        let third = names[2]
        let again = lines.insert(DistinctLines.hash(third.span, 0), at: 9) {
            names.indices.contains(Int($0)) && names[Int($0)] == third
        }
        #expect(!again)
        let other = lines.insert(DistinctLines.hash(third.span, 1), at: 9) { _ in false }
        #expect(other)
    }
}
