import Basics
import Settings
import Testing

@testable import Console

@Suite struct ArgumentParserTests {
    private static let command = Command(
        "try", .everyone, "Try", operands: "[FILE...]", maximumOperands: 2, examples: [],
        groups: [
            FlagGroup(
                "Flags",
                [
                    Flag("name", "TEXT", "A name"), Flag("many", "TEXT", "Many", letter: "m", isRepeatable: true),
                    Flag("fast", nil, "A switch", letter: "f"), Flag("form", "WORD", "A choice", choices: ["a", "b"]),
                ] + FlagGroup.settings([("bootstrap", "LIST", "kafka.bootstrap_servers")]))
        ],
        readOn: "nowhere", run: { _ throws(CommandFailure) in .done })

    private func parse(_ line: String) throws(CommandFailure) -> Arguments {
        try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: Self.command)
    }

    @Test(arguments: [
        ("--name x", ["x"]), ("--name=x", ["x"]), ("--name=", [""]), ("--name=a=b", ["a=b"]), ("--name -x", ["-x"]),
        ("--name --unknown-to-us", ["--unknown-to-us"]),
    ])
    func valuesAreTakenInEveryForm(line: String, expected: [String]) throws {
        #expect(try parse(line).values("name") == expected)
    }

    @Test(arguments: [("-m x -mx --many x -m=x", 4), ("", 0)])
    func repeatableFlagsAddUp(line: String, count: Int) throws {
        #expect(try parse(line).values("many") == Array(repeating: "x", count: count))
    }

    @Test func switchesTakeNoValue() throws {
        let arguments = try parse("-f a b")
        #expect(arguments.has("fast"))
        #expect(arguments.operands == ["a", "b"])
    }

    @Test func twoDashesEndTheFlagsAndOneIsAnOperand() throws {
        #expect(try parse("- -- --name").operands == ["-", "--name"])
    }

    @Test(arguments: [
        ("-hub:shop", ["-hub:shop"]), ("-label.campaign:a state:failed", ["-label.campaign:a", "state:failed"]),
        ("-hub_state:x -n5 a", ["-hub_state:x", "a"]), ("-n 5:1", []),
    ])
    func whatExcludesIsNoFlagWhereAFilterMayStand(line: String, operands: [String]) throws {
        let words = line.split(separator: " ").map(String.init)
        #expect(try ArgumentParser.parse(words, for: .resultsList).operands == operands)
    }

    @Test func whereNoFilterMayStandItIsAFlag() {
        #expect(throws: CommandFailure.self) { try parse("-hub:shop") }
    }

    @Test func everySettingIsAFlag() throws {
        let settings = try parse("--bootstrap a:1 --kafka.group_id=g --retry.base 2s").settings
        #expect(settings.map(\.key) == ["kafka.bootstrap_servers", "kafka.group_id", "retry.base"])
        #expect(settings.map(\.value) == ["a:1", "g", "2s"])
        #expect(settings.map(\.spelling) == ["--bootstrap", "--kafka.group_id", "--retry.base"])
    }

    @Test func theSettingsFileIsAFlagEverywhere() throws {
        #expect(try parse("--config a.yaml").configPath == "a.yaml")
    }

    @Test(arguments: [
        ("--name", "--name needs a value: --name TEXT"), ("--name --fast", "--name needs a value: --name TEXT"),
        ("--fast=yes", "--fast takes no value"), ("--name a --name b", "--name is given twice"),
        ("--form c", "--form: 'c' is not one of a, b"), ("a b c", "'c' is one argument too many"),
        ("--nmae x", "there is no flag '--nmae'"), ("-x", "there is no flag '-x'"),
    ])
    func faultsAreNamed(line: String, message: String) {
        #expect { try parse(line) } throws: { error in
            let failure = error as? CommandFailure
            return failure?.code == .usage && failure?.message == message
        }
    }

    @Test(arguments: [
        ("--nmae x", "did you mean --name?"), ("--fats", "did you mean --fast?"), ("--bootstrp a", "did you mean --bootstrap?"),
        ("--kafka.group_ids g", "did you mean --kafka.group_id?"), ("--zzzzzzzzzzzzzzzz", nil),
    ])
    func theNearestFlagIsSuggested(line: String, hint: String?) {
        #expect { try parse(line) } throws: { ($0 as? CommandFailure)?.hint == hint }
    }

    @Test(arguments: [("topics", "topcis", 1), ("", "abc", 3), ("abc", "", 3), ("same", "same", 0), ("kitten", "sitting", 3)])
    func distanceCountsInsertionsDeletionsReplacementsAndSwaps(one: String, other: String, distance: Int) {
        #expect(Spelling.distance(from: one, to: other) == distance)
    }
}
