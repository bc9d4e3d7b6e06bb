import Glibc
import Synchronization

// Beside the type, because C functions can reach nothing that belongs to one.
private let ownCalls = Atomic<Int>(0)
private let kafkaCalls = Atomic<Int>(0)
private let curlCalls = Atomic<Int>(0)

/// Counts the calls of `malloc` and its kin by the library that makes them, in all threads of this process.
///
/// What Swift code needs, its runtime takes from `malloc`: objects, closures' contexts, the storage of arrays, strings and
/// dictionaries, memory by pointer. So the calls of the Swift library and of the program itself, which may hold that library, are
/// our own allocations. Those of librdkafka and libcurl are counted apart.
enum AllocationCounter {
    /// Calls, by the library.
    struct Counts: Sendable {
        var own = 0
        var kafka = 0
        var curl = 0

        static func - (left: Counts, right: Counts) -> Counts {
            Counts(own: left.own - right.own, kafka: left.kafka - right.kafka, curl: left.curl - right.curl)
        }
    }

    /// Whether allocations are counted. They are from the first use until the process ends, at the price of one atomic addition
    /// each.
    static let isCounting: Bool = {
        guard Real.areKnown else { return false }
        let isFound = own.put(into: ImportedFunctions(of: "libswiftCore.so")) > 0
        // A program that was linked with the static library calls `malloc` itself.
        let isInside = own.put(into: ImportedFunctions(of: nil)) > 0
        kafka.put(into: ImportedFunctions(of: "librdkafka.so.1"))
        curl.put(into: ImportedFunctions(of: "libcurl.so.4"))
        return isFound || isInside
    }()

    /// The calls so far.
    static var counts: Counts {
        Counts(
            own: ownCalls.load(ordering: .relaxed), kafka: kafkaCalls.load(ordering: .relaxed),
            curl: curlCalls.load(ordering: .relaxed))
    }

    /// Our own allocations during `work`, those of other threads included; nil where they cannot be counted.
    static func count<Failure>(_ work: () throws(Failure) -> Void) throws(Failure) -> Int? {
        guard isCounting else { return nil }
        let before = counts
        try work()
        return (counts - before).own
    }

    private static let own = CountingFunctions(
        malloc: {
            ownCalls.wrappingAdd(1, ordering: .relaxed); return Real.malloc($0)
        },
        calloc: {
            ownCalls.wrappingAdd(1, ordering: .relaxed); return Real.calloc($0, $1)
        },
        realloc: {
            ownCalls.wrappingAdd(1, ordering: .relaxed); return Real.realloc($0, $1)
        },
        aligned: {
            ownCalls.wrappingAdd(1, ordering: .relaxed); return Real.aligned($0, $1, $2)
        })
    private static let kafka = CountingFunctions(
        malloc: {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Real.malloc($0)
        },
        calloc: {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Real.calloc($0, $1)
        },
        realloc: {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Real.realloc($0, $1)
        },
        aligned: {
            kafkaCalls.wrappingAdd(1, ordering: .relaxed); return Real.aligned($0, $1, $2)
        })
    private static let curl = CountingFunctions(
        malloc: {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Real.malloc($0)
        },
        calloc: {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Real.calloc($0, $1)
        },
        realloc: {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Real.realloc($0, $1)
        },
        aligned: {
            curlCalls.wrappingAdd(1, ordering: .relaxed); return Real.aligned($0, $1, $2)
        })
}

private typealias Malloc = @convention(c) (Int) -> UnsafeMutableRawPointer?
private typealias Calloc = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
private typealias Realloc = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
private typealias Aligned = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int, Int) -> Int32

/// The C library's functions by their addresses: called by name from this program, they would be counted without end.
private enum Real {
    static let malloc = unsafeBitCast(dlsym(nil, "malloc"), to: Malloc.self)
    static let calloc = unsafeBitCast(dlsym(nil, "calloc"), to: Calloc.self)
    static let realloc = unsafeBitCast(dlsym(nil, "realloc"), to: Realloc.self)
    static let aligned = unsafeBitCast(dlsym(nil, "posix_memalign"), to: Aligned.self)

    /// Whether all of them are there; asked before any is replaced, so that none is looked up in the middle of an allocation.
    static var areKnown: Bool {
        let names: [String] = ["malloc", "calloc", "realloc", "posix_memalign"]
        let isComplete = names.allSatisfy { dlsym(nil, $0) != nil }
        if isComplete { _ = (malloc, calloc, realloc, aligned) }
        return isComplete
    }
}

/// What a library is given in place of the C library's functions.
private struct CountingFunctions {
    let malloc: Malloc
    let calloc: Calloc
    let realloc: Realloc
    let aligned: Aligned

    /// Puts the functions in place for one library.
    ///
    /// - Returns: The places of `malloc`; 0 when the library is not there.
    @discardableResult func put(into library: ImportedFunctions?) -> Int {
        guard let library else { return 0 }
        let slots = library.slots(of: "malloc")
        write(unsafeBitCast(malloc, to: UInt.self), into: slots)
        write(unsafeBitCast(calloc, to: UInt.self), into: library.slots(of: "calloc"))
        write(unsafeBitCast(realloc, to: UInt.self), into: library.slots(of: "realloc"))
        write(unsafeBitCast(aligned, to: UInt.self), into: library.slots(of: "posix_memalign"))
        return slots.count
    }

    private func write(_ address: UInt, into slots: [UnsafeMutablePointer<UInt>]) {
        for slot in slots { ImportedFunctions.write(address, to: slot) }
    }
}
