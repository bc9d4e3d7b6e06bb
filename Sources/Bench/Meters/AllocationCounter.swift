import Glibc
import Synchronization

// Beside the type, because C functions can reach nothing that belongs to one.
private let swiftCalls = Atomic<Int>(0)
private let kafkaCalls = Atomic<Int>(0)
private let curlCalls = Atomic<Int>(0)

/// Counts the calls of `malloc` and its kin by the library that makes them, in all threads of this process.
///
/// What Swift code needs, its runtime takes from `malloc`: objects, closures' contexts, the storage of arrays, strings and
/// dictionaries, memory by pointer. So the Swift library's calls are our own allocations, and those of librdkafka and libcurl are
/// told from them.
enum AllocationCounter {
    /// Calls, by the library.
    struct Counts: Sendable {
        var swift = 0
        var kafka = 0
        var curl = 0

        static func - (left: Counts, right: Counts) -> Counts {
            Counts(swift: left.swift - right.swift, kafka: left.kafka - right.kafka, curl: left.curl - right.curl)
        }
    }

    private typealias Malloc = @convention(c) (Int) -> UnsafeMutableRawPointer?
    private typealias Calloc = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
    private typealias Realloc = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
    private typealias Aligned = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int, Int) -> Int32

    /// Whether the Swift library's calls are counted. They are from the first use until the process ends, at the price of one
    /// atomic addition each.
    static let isCounting: Bool = {
        let malloc: Malloc = {
            swiftCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.malloc($0)
        }
        let aligned: Aligned = {
            swiftCalls.wrappingAdd(1, ordering: .relaxed); return posix_memalign($0, $1, $2)
        }
        guard let library = ImportedFunctions(of: "libswiftCore.so") else { return false }
        let slots = library.slots(of: "malloc")
        put(unsafeBitCast(malloc, to: UInt.self), into: slots)
        put(unsafeBitCast(aligned, to: UInt.self), into: library.slots(of: "posix_memalign"))
        countKafka()
        countCurl()
        return !slots.isEmpty
    }()

    /// The calls so far.
    static var counts: Counts {
        Counts(
            swift: swiftCalls.load(ordering: .relaxed), kafka: kafkaCalls.load(ordering: .relaxed),
            curl: curlCalls.load(ordering: .relaxed))
    }

    /// The allocations of `work` and of whatever runs beside it; nil where they cannot be counted.
    static func count<Failure>(_ work: () throws(Failure) -> Void) throws(Failure) -> Int? {
        guard isCounting else { return nil }
        let before = counts
        try work()
        return (counts - before).swift
    }

    private static func countKafka() {
        let malloc: Malloc = {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.malloc($0)
        }
        let calloc: Calloc = {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.calloc($0, $1)
        }
        let realloc: Realloc = {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.realloc($0, $1)
        }
        put(malloc, calloc, realloc, into: ImportedFunctions(of: "librdkafka.so.1"))
    }

    private static func countCurl() {
        let malloc: Malloc = {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.malloc($0)
        }
        let calloc: Calloc = {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.calloc($0, $1)
        }
        let realloc: Realloc = {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Glibc.realloc($0, $1)
        }
        put(malloc, calloc, realloc, into: ImportedFunctions(of: "libcurl.so.4"))
    }

    private static func put(_ malloc: Malloc, _ calloc: Calloc, _ realloc: Realloc, into library: ImportedFunctions?) {
        guard let library else { return }
        put(unsafeBitCast(malloc, to: UInt.self), into: library.slots(of: "malloc"))
        put(unsafeBitCast(calloc, to: UInt.self), into: library.slots(of: "calloc"))
        put(unsafeBitCast(realloc, to: UInt.self), into: library.slots(of: "realloc"))
    }

    private static func put(_ address: UInt, into slots: [UnsafeMutablePointer<UInt>]) {
        for slot in slots { ImportedFunctions.write(address, to: slot) }
    }
}
