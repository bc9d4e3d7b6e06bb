internal import CLinux

/// The fate of memory that is freed.
public enum FreedMemory {
    /// Has blocks of 256 KiB or more given back to the system when they are freed, and 2 MiB of smaller ones kept.
    ///
    /// Of its own accord glibc learns to keep blocks of up to 32 MiB (mallopt(3), `M_MMAP_THRESHOLD`), such as the brokers' answers are,
    /// and smaller ones that last settle in between. A worker under load then holds 15 to 20 MiB more, and uses no less processor time.
    ///
    /// Small blocks are joined with their neighbours at once (`M_MXFAST`). The library frees a dozen for each record that is written, and
    /// glibc would go through all that it keeps whenever 64 KiB of them lie together: 1.5 % of a worker's time.
    public static func goesBackToTheSystem() {
        mallopt(M_MXFAST, 0)
        mallopt(M_MMAP_THRESHOLD, 256 << 10)
        mallopt(M_TRIM_THRESHOLD, keptByteCount)
    }

    /// Gives back what is free between what is in use, which a burst leaves behind: of its own accord glibc gives back only what is free
    /// above all that is in use. Takes milliseconds, in which no other thread gets memory.
    public static func giveBack() { malloc_trim(Int(keptByteCount)) }

    /// The bytes that are kept above all that is in use: 2 MiB.
    private static let keptByteCount: Int32 = 2 << 20
}
