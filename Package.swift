// swift-tools-version: 6.2
import PackageDescription

// The layers, lowest first; imports point downward only, and `.ci/check-imports` fails the build when they do not.
//
//   C        system libraries, one Swift importer each
//   pure     values and decisions: no clock, no I/O, no C, no Foundation
//   adapter  one wrapper for each C library; none knows what a push is
//   hub      joins the push terms to the adapters
//   shared   what services and commands have in common: requests checked and written to Kafka, their results awaited, read and
//            replayed, the beginnings of partitions
//   service  worker, emulator, gateway; no service imports another
//   wiring   Settings: files, environment and flags to each module's configuration
//   console  the commands
//   bench    measures all of it, and is a command itself
//   program  the `pushfan` executable

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

func pure(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: safe + quick)
}

func wrapper(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], settings: [SwiftSetting] = []) -> Target {
    let others = leftOut.filter { $0.hasPrefix("\(name)/") }.map { String($0.dropFirst(name.count + 1)) }
    return .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], exclude: exclude + others, swiftSettings: strict + settings)
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
        .systemLibrary(name: "CRDKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CLinux"),
        // The documentation's pages as bytes. Debug information as Swift writes it, which valgrind 3.19 can read.
        .target(name: "CPages", cSettings: [.unsafeFlags(["-gdwarf-4"])]),
        // The files of the web page as bytes.
        .target(name: "CWebFiles", exclude: ["files"], cSettings: [.unsafeFlags(["-gdwarf-4"])]),
        // Commit and date of the build.
        .target(
            name: "CStamp",
            cSettings: [
                fact("PUSHFAN_COMMIT", #/[0-9a-f]{7,64}/#), fact("PUSHFAN_DATE", #/[0-9]{4}-[0-9]{2}-[0-9]{2}/#),
                .unsafeFlags(["-gdwarf-4"]),
            ]),

        // pure
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

        // adapter
        wrapper("EventLoop", ["Basics", "CLinux"]),
        wrapper("Crypto", ["Basics", "COpenSSL"]),
        wrapper("HubAuth", ["Basics", "Crypto"]),
        wrapper("Users", ["Basics", "Crypto", "EventLoop"]),
        wrapper("Keys", ["Basics", "Crypto", "EventLoop"]),
        wrapper("CurlHTTP", ["Basics", "CCurl", "Crypto", "EventLoop", "HTTP1"]),
        wrapper("Kafka", ["Basics", "CRDKafka", "EventLoop"]),
        wrapper("Gzip", ["CZlib"]),
        wrapper("LZ4", ["CLZ4"]),
        wrapper("HTTPServing", ["Basics", "CMicroHTTPD", "Gzip"]),
        wrapper("SQLite", ["Basics", "CSQLite"]),
        wrapper("YAML", ["Basics", "CYAML"]),
        wrapper("Pages", ["CPages"]),
        wrapper("WebFiles", ["CWebFiles", "Crypto", "Gzip"]),
        wrapper("Stamp", ["CStamp"]),

        // hub
        .target(
            name: "HubREST",
            dependencies: [
                "Basics", "PushModel", "XML", "Payloads", "FanOut", "Delivery", "Outcomes", "HubAuth", "CurlHTTP", "HTTP1",
                "EventLoop",
            ],
            swiftSettings: strict),

        // shared
        .target(
            name: "Publishing", dependencies: ["Basics", "PushModel", "ResultQuery", "EventLoop", "Kafka"],
            swiftSettings: strict),
        .target(
            name: "Intake",
            dependencies: ["Basics", "PushModel", "Payloads", "FanOut", "Delivery", "HubAuth", "HubREST", "Publishing"],
            swiftSettings: strict),
        .target(
            name: "Jobs",
            dependencies: [
                "Basics", "PushModel", "FanOut", "Delivery", "ResultQuery", "Replay", "EventLoop", "Kafka", "LZ4", "SQLite",
                "Publishing", "GroupPositions", "Intake", "Outcomes", "Crypto", "HubAuth", "HTTP1", "CurlHTTP", "HubREST",
            ],
            swiftSettings: strict),
        .target(
            name: "GroupPositions", dependencies: ["Basics", "PushModel", "Delivery", "EventLoop", "Kafka"],
            swiftSettings: strict),

        // service
        .target(
            name: "WorkerRuntime",
            dependencies: [
                "Basics", "PushModel", "Payloads", "FanOut", "Delivery", "Outcomes", "Observability", "EventLoop", "Kafka",
                "HubREST", "CurlHTTP", "HTTP1", "HubAuth", "Crypto", "GroupPositions",
            ],
            swiftSettings: strict + [.define("PUSHFAN_FAILPOINTS", .when(traits: ["Failpoints"]))]),
        .target(
            name: "Gateway",
            dependencies: [
                "Basics", "PushModel", "FanOut", "Delivery", "Outcomes", "Observability", "EventLoop", "Kafka", "HubREST",
                "CurlHTTP", "HTTPServing", "HubAuth", "SQLite", "Users", "Keys", "Crypto", "Publishing", "Intake", "Jobs",
                "GroupPositions", "Replay", "ResultQuery", "WebFiles",
            ],
            swiftSettings: strict),
        .target(
            name: "HubEmulator",
            dependencies: ["Basics", "PushModel", "XML", "Payloads", "FanOut", "Crypto", "HubAuth", "HTTPServing"],
            swiftSettings: strict),

        // wiring
        wrapper(
            "Settings",
            [
                "Basics", "YAML", "PushModel", "FanOut", "Payloads", "Delivery", "Outcomes", "HubAuth", "Kafka", "HubREST",
                "CurlHTTP", "WorkerRuntime", "Gateway", "Intake", "Jobs",
                "Observability",
            ]),

        // console
        wrapper(
            "Console",
            [
                "Basics", "Settings", "Gateway", "HubEmulator", "PushModel", "Payloads", "FanOut", "Delivery", "Observability",
                "Outcomes", "ResultQuery", "Replay", "Pages", "Kafka", "SQLite",
                "HubREST", "HubAuth", "HTTPServing", "HTTP1", "CurlHTTP", "EventLoop", "Crypto", "Users", "Keys", "Publishing",
                "Intake", "Jobs", "GroupPositions",
            ]),

        // bench
        wrapper(
            "Bench",
            [
                "Basics", "Console", "Settings", "WorkerRuntime", "HubEmulator", "PushModel", "Payloads", "FanOut", "Delivery",
                "Observability", "Kafka", "HubREST", "HubAuth", "HTTPServing", "HTTP1", "CurlHTTP", "EventLoop",
            ]),

        // program
        .executableTarget(
            name: "PushFan",
            dependencies: [
                "Basics", "Bench", "Console", "Settings", "WorkerRuntime", "Gateway", "HubEmulator", "PushModel", "Payloads",
                "FanOut", "Delivery", "Outcomes", "Observability",
                "Kafka", "Keys", "HubREST", "HubAuth", "HTTPServing", "CurlHTTP", "EventLoop", "Jobs", "Stamp",
            ],
            swiftSettings: strict),

        // tests
        .target(
            name: "TestSupport", dependencies: ["Basics", "PushModel"], path: "Tests/TestSupport", swiftSettings: strict + quick),
        .target(name: "FaultOracle", dependencies: ["PushModel", "Delivery"], path: "Tests/FaultOracle", swiftSettings: strict),
        .executableTarget(
            name: "FaultSuite", dependencies: ["FaultOracle", "Kafka", "Delivery", "PushModel"], path: "Tests/FaultSuite",
            exclude: ["REPORT.md"],
            swiftSettings: strict),
        .target(name: "ScaleModel", dependencies: ["YAML"], path: "Tests/ScaleModel", swiftSettings: strict + quick),
        .executableTarget(name: "Scaling", dependencies: ["ScaleModel"], path: "Tests/Scaling", swiftSettings: strict),
        tests("BasicsTests", ["Basics"]),
        tests("PushModelTests", ["PushModel"]),
        tests("XMLTests", ["Basics", "XML"], settings: quick),
        tests("PayloadsTests", ["Payloads", "PushModel"], exclude: ["Golden"]),
        tests("FanOutTests", ["FanOut", "PushModel"]),
        tests("DeliveryTests", ["Basics", "Delivery", "PushModel"], settings: quick),
        tests("OutcomesTests", ["Basics", "Outcomes", "Delivery", "PushModel"], settings: quick),
        tests("HTTP1Tests", ["HTTP1"]),
        tests("ObservabilityTests", ["Observability"]),
        tests("ResultQueryTests", ["ResultQuery", "PushModel"]),
        tests("ReplayTests", ["Replay", "PushModel", "FanOut", "ResultQuery"]),
        tests("HubAuthTests", ["Basics", "HubAuth", "Crypto"]),
        tests("KeysTests", ["Basics", "EventLoop", "Keys", "Crypto"]),
        tests("UsersTests", ["Basics", "EventLoop", "Users", "Crypto"]),
        tests("CurlHTTPTests", ["Basics", "CurlHTTP", "CCurl", "COpenSSL", "EventLoop", "Crypto", "HTTP1"]),
        tests("KafkaTests", ["Kafka", "CRDKafka"]),
        tests("GzipTests", ["Gzip"]),
        tests("LZ4Tests", ["LZ4"]),
        tests("WebFilesTests", ["Gzip", "WebFiles"]),
        tests("HTTPServingTests", ["Basics", "HTTPServing"]),
        tests("SQLiteTests", ["SQLite"]),
        tests("YAMLTests", ["YAML"]),
        tests("HubRESTTests", ["HubREST", "Payloads", "PushModel", "Delivery", "FanOut", "HubAuth", "HTTP1", "CurlHTTP"]),
        tests("PublishingTests", ["Basics", "Publishing", "PushModel", "EventLoop", "Kafka", "CRDKafka"]),
        tests(
            "JobsTests",
            [
                "Delivery", "EventLoop", "FanOut", "GroupPositions", "HTTPServing", "HubREST", "Jobs", "Kafka", "PushModel",
                "Publishing", "Replay", "ResultQuery", "SQLite",
            ]),
        tests("GroupPositionsTests", ["CRDKafka", "Delivery", "GroupPositions", "Kafka", "PushModel"]),
        tests("IntakeTests", ["Intake", "PushModel", "Publishing", "FanOut", "HubAuth", "HubREST"]),
        tests(
            "WorkerRuntimeTests",
            [
                "Basics", "EventLoop", "GroupPositions", "WorkerRuntime", "HubEmulator", "Kafka", "PushModel", "HubAuth",
                "HubREST", "CurlHTTP", "HTTP1", "Observability", "Delivery", "Outcomes", "FanOut",
                "Payloads",
            ]),
        tests(
            "HubEmulatorTests",
            [
                "Basics", "HubEmulator", "HubREST", "CurlHTTP", "EventLoop", "Delivery", "Outcomes", "HubAuth", "HTTPServing",
                "PushModel",
                "FanOut",
            ]),
        tests(
            "GatewayTests",
            [
                "Basics", "Gateway", "WorkerRuntime", "PushModel", "Payloads", "FanOut", "Delivery", "Outcomes", "HubEmulator",
                "HubREST", "HubAuth", "CurlHTTP", "HTTPServing", "Kafka", "Users", "Keys", "Crypto", "Observability", "EventLoop",
                "Publishing", "Intake", "SQLite", "Jobs", "GroupPositions", "Replay", "ResultQuery", "WebFiles",
            ]),
        tests("ScalingTests", ["ScaleModel"]),
        tests("FaultSuiteTests", ["FaultOracle", "PushModel", "Delivery"]),
        tests(
            "SettingsTests",
            [
                "Settings", "Delivery", "Observability", "WorkerRuntime", "Gateway", "FanOut", "HubREST", "HubAuth", "CurlHTTP",
                "Intake",
            ]),
        tests(
            "ConsoleTests",
            [
                "Basics", "Console", "Settings", "Kafka", "SQLite", "PushModel", "FanOut", "ResultQuery", "Replay", "Pages",
                "HTTPServing",
                "HubEmulator", "HubAuth", "Delivery", "Outcomes", "WorkerRuntime", "Observability", "EventLoop", "Users", "Keys",
                "Crypto", "Publishing", "Gateway", "Intake", "Jobs", "GroupPositions",
            ]),
        tests("BenchTests", ["Bench", "Console", "Delivery", "Kafka", "Observability", "Settings"]),
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
