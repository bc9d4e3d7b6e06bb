import Glibc

/// Heap allocations of our own, in all threads of this process: calls of `malloc` and its kin by the program itself and by Swift's library.
///
/// `.ci/allocations-shim.c` counts them, when it is loaded before the program (LD_PRELOAD), as `.ci/check-cost` does. Without it nothing is
/// counted.
enum AllocationCounter {
    private typealias Count = @convention(c) () -> Int

    private static let shim: Count? = {
        guard let function = dlsym(nil, "pushfan_allocations") else { return nil }
        return unsafeBitCast(function, to: Count.self)
    }()

    /// The allocations so far; nil where they are not counted. A program that runs has made some, so 0 means that its calls are not seen.
    static var made: Int? {
        guard let made = shim?(), made > 0 else { return nil }
        return made
    }

    /// Does `work`, and says how many allocations were made meanwhile; nil where they are not counted.
    static func count<Failure>(_ work: () throws(Failure) -> Void) throws(Failure) -> Int? {
        let before = made
        try work()
        guard let before, let after = made else { return nil }
        return after - before
    }
}
