// swift-tools-version: 6.2
import PackageDescription

// A folder of Sources for each layer, lowest first. Imports point downward, or within a layer, and `.ci/check-imports` fails the build when they do not.
//
//   C         libraries in C, one Swift importer each
//   Pure      values and decisions: no clock, no I/O, no C, no Foundation
//   Adapters  one wrapper for each C library; none knows what a push is
//   Hub       the hub's protocol, from both ends
//   Records   what both services and commands do with Kafka's records
//   Worker    the services that send: requests to hubs, results to receivers
//   Door      the service that takes requests and answers questions, a module for each room
//   Commands  the program: its settings and its commands

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    // Swift asks at each use of a class's property whether another use of it is going on: 3,200 of 39,800 instructions for a request.
    // Debug and sanitizer builds, which run the tests, go on asking, so a violation is found there.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// Swift code in which an unsafe pointer does not compile.
let safe = strict + [.strictMemorySafety()]

/// A build for `Deploy/test`'s run under a sanitizer has only these test targets, and what they need; set by that script.
let chosenTests = Context.environment["PUSHFAN_TEST_TARGETS"].flatMap { names in
    names.isEmpty ? nil : names.split(separator: " ").map { String($0) }
}

/// The files of these targets that are left out, as paths below `Tests`: those without a test that the sanitizer looks at.
let leftOut = (Context.environment["PUSHFAN_TEST_LEFT_OUT"] ?? "").split(separator: " ").map { String($0) }

/// Seeded tests go through the pure modules millions of times, so debug builds optimise these. Checks of overflow, bounds and exclusivity
/// stay as they are. Of the tests only those are optimised that compute for longer than that takes.
let quick: [SwiftSetting] =
    chosenTests == nil ? [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))] : []

/// A fact of the build for `CStamp`: a word from the environment, or `unknown`. Not from `Context.gitInformation`: SwiftPM keeps what a manifest
/// said for as long as its text and the environment stay the same, so that would name an old commit.
func fact(_ variable: String, _ form: Regex<Substring>) -> CSetting {
    let word = Context.environment[variable].flatMap { $0.wholeMatch(of: form) == nil ? nil : $0 }
    return .define(variable, to: word ?? "unknown")
}

func library(_ name: String, _ config: String? = nil, _ package: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: config, providers: package.map { [.apt([$0])] })
}

/// C of our own. Debug information as Swift writes it, which valgrind 3.19 can read.
func data(_ name: String, exclude: [String] = [], facts: [CSetting] = []) -> Target {
    .target(name: name, path: "Sources/C/\(name)", exclude: exclude, cSettings: facts + [.unsafeFlags(["-gdwarf-4"])])
}

func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/Pure/\(name)", swiftSettings: safe + quick)
}

func module(_ path: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = []) -> Target {
    let name = String(path.split(separator: "/").last!)
    return .target(name: name, dependencies: dependencies, path: "Sources/\(path)", swiftSettings: strict + settings)
}

func tests(_ path: String, _ dependencies: [Target.Dependency], exclude: [String] = [], settings: [SwiftSetting] = []) -> Target {
    let name = String(path.split(separator: "/").last!)
    let others = leftOut.filter { $0.hasPrefix("\(path)/") }.map { String($0.dropFirst(path.count + 1)) }
    return .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(path)", exclude: exclude + others,
        swiftSettings: strict + settings)
}

let package = Package(
    name: "pushfan",
    products: [
        .executable(name: "pushfan", targets: ["PushFan"]),
        .executable(name: "pushfan-faults", targets: ["FaultSuite"]),
        .executable(name: "pushfan-scaling", targets: ["Scaling"]),
    ],
    traits: [
        .trait(
            name: "Failpoints",
            description: "Lets the fault suite make a worker kill itself, or break it on purpose. For tests only.")
    ],
    targets: [
        // C
        library("CRDKafka", "rdkafka", "librdkafka-dev"),
        library("CCurl", "libcurl", "libcurl4-openssl-dev"),
        library("COpenSSL", "openssl", "libssl-dev"),
        library("CMicroHTTPD", "libmicrohttpd", "libmicrohttpd-dev"),
        library("CSQLite", "sqlite3", "libsqlite3-dev"),
        library("CZlib", "zlib", "zlib1g-dev"),
        library("CLZ4", "liblz4", "liblz4-dev"),
        library("CYAML", "yaml-0.1", "libyaml-dev"),
        library("CLinux"),
        // The documentation's pages as bytes.
        data("CPages"),
        // The files of the web page as bytes.
        data("CWebFiles", exclude: ["files"]),
        // Commit and date of the build.
        data(
            "CStamp",
            facts: [
                fact("PUSHFAN_COMMIT", #/[0-9a-f]{7,64}/#), fact("PUSHFAN_DATE", #/[0-9]{4}-[0-9]{2}-[0-9]{2}/#),
            ]),

        // Pure
        pure("Basics"),
        pure("PushModel", ["Basics"]),
        pure("XML", ["Basics", "PushModel"]),
        pure("Payloads", ["Basics", "PushModel", "XML"]),
        pure("FanOut", ["Basics", "PushModel"]),
        pure("Delivery", ["Basics", "PushModel"]),
        pure("Outcomes", ["Basics", "PushModel", "XML", "Delivery"]),
        pure("HTTP1", ["Basics"]),
        pure("Observability", ["Basics"]),
        pure("ResultQuery", ["Basics", "PushModel"]),
        pure("Replay", ["Basics", "PushModel", "FanOut", "ResultQuery"]),
        pure("Tokens", ["Basics", "PushModel"]),
        pure("Webhooks", ["Basics", "PushModel", "Delivery", "ResultQuery"]),

        // Adapters
        module("Adapters/EventLoop", ["Basics", "CLinux"]),
        module("Adapters/Crypto", ["Basics", "COpenSSL"]),
        module("Adapters/HubAuth", ["Basics", "Crypto"]),
        module("Adapters/Users", ["Basics", "Crypto", "EventLoop"]),
        module("Adapters/Keys", ["Basics", "Crypto", "EventLoop"]),
        module("Adapters/CurlHTTP", ["Basics", "CCurl", "Crypto", "EventLoop", "HTTP1"]),
        module(
            "Adapters/UserTokens",
            ["Basics", "Crypto", "CurlHTTP", "EventLoop", "HTTP1", "Keys", "Observability", "Tokens"]),
        module("Adapters/Kafka", ["Basics", "CRDKafka", "EventLoop"]),
        module("Adapters/Gzip", ["CZlib"]),
        module("Adapters/LZ4", ["CLZ4"]),
        module("Adapters/HTTPServing", ["Basics", "CMicroHTTPD", "Gzip"]),
        module("Adapters/SQLite", ["Basics", "CSQLite"]),
        module("Adapters/YAML", ["Basics", "CYAML"]),
        module("Adapters/Pages", ["CPages"]),
        module("Adapters/WebFiles", ["Basics", "CWebFiles", "Gzip"]),
        module("Adapters/Stamp", ["CStamp"]),

        // Hub
        module(
            "Hub/HubREST",
            [
                "Basics", "PushModel", "XML", "Payloads", "FanOut", "Delivery", "Outcomes", "HubAuth", "CurlHTTP", "HTTP1",
                "EventLoop",
            ]),
        module("Hub/HubServer", ["Basics", "PushModel", "XML", "Payloads", "FanOut", "Crypto", "HubAuth", "HTTPServing"]),
        module(
            "Hub/HubEmulator",
            ["Basics", "PushModel", "Payloads", "FanOut", "Crypto", "HubAuth", "HTTPServing", "HubServer"]),
        module(
            "Hub/HubStore",
            ["Basics", "PushModel", "FanOut", "Crypto", "HTTPServing", "SQLite", "EventLoop", "HubServer"]),
        module(
            "Hub/HubService",
            [
                "Basics", "PushModel", "Payloads", "FanOut", "Observability", "Crypto", "HubAuth", "HTTPServing", "EventLoop",
                "YAML",
                "Keys", "HubServer", "HubStore",
            ]),

        // Records
        module(
            "Records/Publishing",
            ["Basics", "PushModel", "ResultQuery", "EventLoop", "Kafka"]),
        module(
            "Records/Intake",
            ["Basics", "PushModel", "Payloads", "FanOut", "Delivery", "HubAuth", "HubREST", "Publishing"]),
        module(
            "Records/GroupPositions",
            ["Basics", "PushModel", "Delivery", "EventLoop", "Kafka"]),
        module(
            "Records/JobSupport",
            [
                "Basics", "PushModel", "Delivery", "HTTP1", "ResultQuery", "Replay", "EventLoop", "CurlHTTP", "Kafka", "HubREST",
                "GroupPositions",
            ]),
        module("Records/Groups", ["Basics", "PushModel", "Delivery", "Kafka", "GroupPositions", "JobSupport"]),
        module("Records/Replays", ["Basics", "PushModel", "FanOut", "Delivery", "ResultQuery", "Replay", "Kafka", "JobSupport"]),
        module(
            "Records/Results",
            [
                "Basics", "PushModel", "Delivery", "ResultQuery", "Replay", "EventLoop", "Crypto", "Kafka", "LZ4", "SQLite",
                "Publishing", "GroupPositions", "JobSupport", "Groups", "Replays",
            ]),

        module("Records/ResultFeed", ["Basics", "PushModel", "ResultQuery", "EventLoop", "Kafka"]),
        module(
            "Records/CallbackRecords",
            [
                "Basics", "PushModel", "Delivery", "ResultQuery", "Webhooks", "EventLoop", "Crypto", "Kafka", "YAML",
                "Publishing", "JobSupport", "ResultFeed",
            ]),

        // Worker
        module(
            "Worker/CallbackRuntime",
            [
                "Basics", "PushModel", "Delivery", "Observability", "ResultQuery", "Webhooks", "EventLoop", "Crypto", "CurlHTTP",
                "HTTP1", "Kafka", "ResultFeed", "CallbackRecords",
            ]),
        module(
            "Worker/WorkerRuntime",
            [
                "Basics", "PushModel", "Payloads", "FanOut", "Delivery", "Outcomes", "Observability", "EventLoop", "Kafka",
                "HubREST", "CurlHTTP", "HTTP1", "HubAuth", "Crypto", "GroupPositions",
            ],
            settings: [.define("PUSHFAN_FAILPOINTS", .when(traits: ["Failpoints"]))]),

        // Door
        module(
            "Door/GatewayAPI",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Observability", "ResultQuery", "Replay", "EventLoop", "Users",
                "Keys", "CurlHTTP", "Kafka", "HTTPServing", "HubREST", "Publishing", "Intake", "GroupPositions", "JobSupport",
                "Groups", "Replays", "Results", "UserTokens",
            ]),
        module(
            "Door/DeviceHubs",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "Observability", "EventLoop", "CurlHTTP", "Users",
                "HubREST", "GatewayAPI",
            ]),
        module(
            "Door/DeviceAPI",
            [
                "Basics", "PushModel", "FanOut", "Observability", "EventLoop", "Users", "Keys", "HTTPServing", "HubREST",
                "GatewayAPI", "DeviceHubs",
            ]),
        module(
            "Door/AppAPI",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "Observability", "EventLoop", "Crypto", "Users", "Kafka",
                "HTTPServing", "HubREST", "Publishing", "UserTokens", "GatewayAPI", "DeviceHubs",
            ]),
        module(
            "Door/PublishAPI",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Observability", "ResultQuery", "Replay", "EventLoop", "HubAuth",
                "Users", "Keys", "Kafka", "HTTPServing", "SQLite", "HubREST", "Publishing", "Intake", "JobSupport", "Groups",
                "Results", "GatewayAPI",
            ]),
        module(
            "Door/OperatorAPI",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Observability", "ResultQuery", "Replay", "EventLoop", "Users",
                "Keys", "Kafka", "HTTPServing", "HubREST", "Publishing", "Intake", "GroupPositions", "JobSupport", "Groups",
                "Replays", "Results", "GatewayAPI",
            ]),
        module(
            "Door/FeedAPI",
            [
                "Basics", "PushModel", "Delivery", "Observability", "ResultQuery", "EventLoop", "Users", "Keys", "Kafka",
                "HTTPServing",
                "Publishing", "JobSupport", "Results", "ResultFeed", "GatewayAPI",
            ]),
        module("Door/Page", ["Basics", "PushModel", "Observability", "Crypto", "Keys", "HTTPServing", "WebFiles", "GatewayAPI"]),
        module(
            "Door/Gateway",
            [
                "PushModel", "FanOut", "Delivery", "Observability", "EventLoop", "Crypto", "Users", "Keys", "Kafka",
                "HTTPServing", "HubREST", "Publishing", "ResultFeed", "GatewayAPI", "AppAPI", "PublishAPI", "OperatorAPI",
                "FeedAPI", "DeviceHubs", "DeviceAPI", "UserTokens", "Page",
            ]),

        // Commands
        module(
            "Commands/Settings",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "HTTP1", "Observability", "HubAuth", "CurlHTTP", "Kafka",
                "YAML", "HubREST", "Intake", "JobSupport", "CallbackRecords", "WorkerRuntime", "CallbackRuntime", "UserTokens",
                "GatewayAPI",
            ]),

        module(
            "Commands/KafkaCare",
            [
                "Basics", "PushModel", "Delivery", "ResultQuery", "EventLoop", "Crypto", "Kafka", "GroupPositions", "JobSupport",
                "Groups",
            ]),
        module(
            "Commands/Audiences",
            ["Basics", "PushModel", "FanOut", "Delivery", "Kafka", "Publishing", "Intake", "JobSupport"]),
        module(
            "Commands/Feedback",
            ["Basics", "PushModel", "Delivery", "Outcomes", "HTTP1", "HubAuth", "CurlHTTP", "Kafka", "HubREST", "JobSupport"]),

        module(
            "Commands/Console",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "HTTP1", "Observability", "ResultQuery", "Replay",
                "EventLoop", "Crypto", "HubAuth", "Users", "Keys", "CurlHTTP", "Kafka", "HTTPServing", "Pages", "HubREST",
                "HubEmulator", "HubServer", "HubStore", "HubService", "Publishing", "Intake", "GroupPositions", "JobSupport",
                "Groups", "Replays", "Results",
                "GatewayAPI", "Gateway", "UserTokens", "Settings", "KafkaCare", "Audiences", "Feedback", "Webhooks", "ResultFeed",
                "CallbackRecords",
            ]),

        module(
            "Commands/Bench",
            [
                "Basics", "Console", "Settings", "KafkaCare", "WorkerRuntime", "HubEmulator", "HubServer", "PushModel",
                "Payloads", "FanOut",
                "Delivery", "Observability", "Kafka", "HubREST", "HubAuth", "HTTPServing", "HTTP1", "CurlHTTP", "EventLoop",
            ]),

        .executableTarget(
            name: "PushFan",
            dependencies: [
                "Basics", "Bench", "Console", "Settings", "WorkerRuntime", "Gateway", "GatewayAPI", "HubEmulator", "HubServer",
                "HubStore", "HubService", "PushModel",
                "Payloads",
                "FanOut", "Delivery", "Outcomes", "Observability", "Kafka", "Keys", "HubREST", "HubAuth", "HTTPServing",
                "CurlHTTP", "EventLoop", "Stamp", "GroupPositions", "JobSupport", "KafkaCare", "CallbackRecords",
                "CallbackRuntime",
                "Webhooks",
            ],
            path: "Sources/Commands/PushFan",
            swiftSettings: strict),

        // Tests
        .target(
            name: "TestSupport", dependencies: ["Basics", "PushModel"], path: "Tests/Support/TestSupport",
            swiftSettings: strict + quick),
        .target(
            name: "TokenIssuer", dependencies: ["COpenSSL", "TestSupport"], path: "Tests/Support/TokenIssuer",
            swiftSettings: strict),
        .target(
            name: "ReplayStage",
            dependencies: [
                "Delivery", "FanOut", "JobSupport", "Kafka", "PushModel", "Replay", "Replays", "ResultQuery", "TestSupport",
            ],
            path: "Tests/Support/ReplayStage", swiftSettings: strict),
        .target(
            name: "DoorStage",
            dependencies: [
                "Basics", "PushModel", "FanOut", "Keys", "Kafka", "HTTPServing", "HubREST", "Publishing", "Results", "GatewayAPI",
                "AppAPI", "PublishAPI", "OperatorAPI", "DeviceHubs", "TestSupport",
            ], path: "Tests/Support/DoorStage", swiftSettings: strict),
        .target(
            name: "FaultOracle", dependencies: ["PushModel", "Delivery"], path: "Tests/Faults/FaultOracle", swiftSettings: strict),
        .executableTarget(
            name: "FaultSuite", dependencies: ["FaultOracle", "Kafka", "Delivery", "PushModel"], path: "Tests/Faults/FaultSuite",
            exclude: ["REPORT.md"],
            swiftSettings: strict),
        .target(name: "ScaleModel", dependencies: ["YAML"], path: "Tests/Scaling/ScaleModel", swiftSettings: strict + quick),
        .executableTarget(name: "Scaling", dependencies: ["ScaleModel"], path: "Tests/Scaling/Scaling", swiftSettings: strict),
        tests("Pure/BasicsTests", ["Basics"]),
        tests("Pure/PushModelTests", ["PushModel"]),
        tests("Pure/XMLTests", ["Basics", "XML"], settings: quick),
        tests("Pure/PayloadsTests", ["Payloads", "PushModel"], exclude: ["Golden"]),
        tests("Pure/FanOutTests", ["Basics", "FanOut", "PushModel"]),
        tests("Pure/DeliveryTests", ["Basics", "Delivery", "PushModel"], settings: quick),
        tests("Pure/OutcomesTests", ["Basics", "Outcomes", "Delivery", "PushModel"], settings: quick),
        tests("Pure/HTTP1Tests", ["HTTP1"]),
        tests("Pure/ObservabilityTests", ["Observability"]),
        tests("Pure/ResultQueryTests", ["ResultQuery", "PushModel"]),
        tests("Pure/ReplayTests", ["Replay", "PushModel", "FanOut", "ResultQuery"]),
        tests("Pure/TokensTests", ["Tokens"]),
        tests("Pure/WebhooksTests", ["Webhooks", "Basics", "PushModel", "Delivery", "ResultQuery"]),
        tests("Adapters/HubAuthTests", ["Basics", "HubAuth", "Crypto"]),
        tests("Adapters/KeysTests", ["Basics", "EventLoop", "Keys", "Crypto"]),
        tests("Adapters/UsersTests", ["Basics", "EventLoop", "Users", "Crypto"]),
        tests(
            "Adapters/UserTokensTests",
            [
                "Basics", "Crypto", "EventLoop", "HTTPServing", "Keys", "Observability", "TokenIssuer", "Tokens", "UserTokens",
            ]),
        tests("Adapters/CurlHTTPTests", ["Basics", "CurlHTTP", "CCurl", "COpenSSL", "EventLoop", "Crypto", "HTTP1"]),
        tests("Adapters/KafkaTests", ["Kafka", "CRDKafka"]),
        tests("Adapters/GzipTests", ["Gzip"]),
        tests("Adapters/LZ4Tests", ["LZ4"]),
        tests("Adapters/WebFilesTests", ["Gzip", "WebFiles"]),
        tests("Adapters/HTTPServingTests", ["Basics", "HTTPServing"]),
        tests("Adapters/SQLiteTests", ["SQLite"]),
        tests("Adapters/YAMLTests", ["YAML"]),
        tests("Hub/HubRESTTests", ["HubREST", "Payloads", "PushModel", "Delivery", "FanOut", "HubAuth", "HTTP1", "CurlHTTP"]),
        tests("Records/PublishingTests", ["Basics", "Publishing", "PushModel", "EventLoop", "Kafka", "CRDKafka"]),
        tests("Records/JobSupportTests", ["ResultQuery", "EventLoop", "HubREST", "JobSupport"]),
        tests("Records/GroupsTests", ["PushModel", "Delivery", "Kafka", "GroupPositions", "Groups"]),
        tests(
            "Records/ReplaysTests",
            ["PushModel", "FanOut", "Delivery", "ResultQuery", "Replay", "Kafka", "JobSupport", "Replays", "ReplayStage"]),
        tests(
            "Records/ResultsTests",
            [
                "PushModel", "Delivery", "ResultQuery", "Replay", "Kafka", "SQLite", "Publishing", "GroupPositions",
                "JobSupport", "Groups", "Replays", "Results", "ReplayStage",
            ]),
        tests(
            "Records/ResultFeedTests", ["Basics", "PushModel", "ResultQuery", "EventLoop", "Kafka", "ResultFeed"]),
        tests(
            "Records/CallbackRecordsTests",
            [
                "Basics", "PushModel", "Delivery", "ResultQuery", "Webhooks", "EventLoop", "Kafka", "JobSupport", "ResultFeed",
                "CallbackRecords",
            ]),
        tests("Records/GroupPositionsTests", ["CRDKafka", "Delivery", "GroupPositions", "Kafka", "PushModel"]),
        tests("Records/IntakeTests", ["Intake", "PushModel", "Publishing", "FanOut", "HubAuth", "HubREST"]),
        tests(
            "Worker/WorkerRuntimeTests",
            [
                "Basics", "EventLoop", "GroupPositions", "WorkerRuntime", "HubEmulator", "HubServer", "Kafka", "PushModel",
                "HubAuth",
                "HubREST", "CurlHTTP", "HTTP1", "Observability", "Delivery", "Outcomes", "FanOut",
                "Payloads",
            ]),
        tests(
            "Worker/CallbackRuntimeTests",
            [
                "Basics", "PushModel", "Delivery", "Observability", "ResultQuery", "Webhooks", "EventLoop", "Crypto", "CurlHTTP",
                "HTTPServing", "Kafka", "ResultFeed", "CallbackRecords", "CallbackRuntime",
            ]),
        tests(
            "Hub/HubEmulatorTests",
            [
                "Basics", "HubEmulator", "HubServer", "HubREST", "CurlHTTP", "EventLoop", "Delivery", "Outcomes", "HubAuth",
                "HTTPServing",
                "PushModel",
                "FanOut",
            ]),
        tests(
            "Hub/HubStoreTests",
            [
                "Basics", "PushModel", "FanOut", "Crypto", "HubAuth", "HTTPServing", "SQLite", "EventLoop", "HubServer",
                "HubStore",
            ]),
        tests(
            "Hub/HubServiceTests",
            [
                "Basics", "PushModel", "Payloads", "FanOut", "Observability", "Crypto", "HubAuth", "HTTPServing", "EventLoop",
                "HubREST", "CurlHTTP", "HubServer", "HubStore", "HubService",
            ]),
        tests("Door/GatewayAPITests", ["Basics", "Kafka", "HTTPServing", "GatewayAPI"]),
        tests(
            "Door/AppAPITests",
            [
                "PushModel", "Payloads", "FanOut", "Crypto", "HTTPServing", "HubREST", "GatewayAPI", "AppAPI", "DeviceHubs",
                "DoorStage",
            ]),
        tests(
            "Door/PublishAPITests",
            [
                "Basics", "PushModel", "Delivery", "ResultQuery", "Keys", "Kafka", "HTTPServing", "HubREST", "Publishing",
                "Intake", "Groups", "Results", "GatewayAPI", "PublishAPI", "OperatorAPI", "DoorStage",
            ]),
        tests(
            "Door/OperatorAPITests",
            [
                "Basics", "PushModel", "Delivery", "Observability", "ResultQuery", "Replay", "EventLoop", "Keys", "Kafka",
                "HTTPServing", "Publishing", "GroupPositions", "JobSupport", "Groups", "Replays", "Results", "GatewayAPI",
                "PublishAPI", "OperatorAPI", "DoorStage",
            ]),
        tests(
            "Door/FeedAPITests",
            [
                "Basics", "PushModel", "ResultQuery", "Keys", "Kafka", "HTTPServing", "Publishing", "Results", "ResultFeed",
                "GatewayAPI", "FeedAPI", "DoorStage",
            ]),
        tests(
            "Door/DeviceHubsTests",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Observability", "CurlHTTP", "Kafka", "Keys", "HubREST", "HubAuth",
                "GatewayAPI", "DeviceHubs", "DoorStage",
            ]),
        tests(
            "Door/DeviceAPITests",
            [
                "Basics", "PushModel", "FanOut", "Observability", "Keys", "HTTPServing", "HubREST", "GatewayAPI", "DeviceHubs",
                "DeviceAPI", "DoorStage",
            ]),
        tests("Door/PageTests", ["Basics", "HTTPServing", "GatewayAPI", "Page"]),
        tests(
            "Door/GatewayTests",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "Observability", "ResultQuery", "Replay", "EventLoop",
                "Crypto", "HubAuth", "Users", "Keys", "CurlHTTP", "Kafka", "HTTPServing", "SQLite", "WebFiles", "HubREST",
                "HubEmulator", "HubServer", "HubStore", "HubService", "Publishing", "GroupPositions", "JobSupport", "Groups",
                "Replays", "Results", "WorkerRuntime",
                "GatewayAPI", "AppAPI", "PublishAPI", "OperatorAPI", "FeedAPI", "ResultFeed", "Page", "Gateway", "DoorStage",
                "DeviceHubs", "DeviceAPI", "UserTokens", "Tokens", "TokenIssuer",
            ]),
        tests("Scaling/ScalingTests", ["ScaleModel"]),
        tests("Faults/FaultSuiteTests", ["FaultOracle", "PushModel", "Delivery"]),
        tests(
            "Commands/SettingsTests",
            [
                "FanOut", "Delivery", "Observability", "HubAuth", "CurlHTTP", "Kafka", "HTTPServing", "HubREST", "Intake",
                "WorkerRuntime", "CallbackRecords", "CallbackRuntime", "UserTokens", "GatewayAPI", "Settings",
            ]),
        tests(
            "Commands/KafkaCareTests",
            [
                "PushModel", "Delivery", "EventLoop", "Crypto", "Kafka", "GroupPositions", "JobSupport", "Groups", "KafkaCare",
            ]),
        tests("Commands/AudiencesTests", ["PushModel", "FanOut", "Delivery", "Publishing", "JobSupport", "Audiences"]),
        tests("Commands/FeedbackTests", ["Feedback"]),
        tests(
            "Commands/ConsoleTests",
            [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "Observability", "ResultQuery", "Replay", "EventLoop",
                "Crypto", "HubAuth", "Users", "Keys", "Kafka", "HTTPServing", "SQLite", "Pages", "HubEmulator", "HubServer",
                "HubStore", "HubService",
                "Publishing",
                "Intake", "GroupPositions", "JobSupport", "Groups", "Replays", "Results", "WorkerRuntime", "GatewayAPI", "AppAPI",
                "PublishAPI", "OperatorAPI", "Settings", "KafkaCare", "Audiences", "Feedback", "Console", "Webhooks",
                "CallbackRecords",
            ]),
        tests("Commands/BenchTests", ["Bench", "Console", "Delivery", "Kafka", "Observability", "Settings"]),
    ],
    swiftLanguageModes: [.v6]
)

if let chosenTests {
    var needed: Set<String> = []
    var waiting = chosenTests
    while let name = waiting.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
        for case .byNameItem(let other, _) in target.dependencies { waiting.append(other) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll()
}
