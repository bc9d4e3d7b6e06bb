import Glibc

/// The places at which a loaded library keeps the addresses of functions that it takes from elsewhere.
///
/// The dynamic linker writes them there (ELF, "Relocation"; the tables are those of the System V ABI). Another address in such a
/// place puts a function of ours before the real one, for that library alone and only in this process.
struct ImportedFunctions {
    /// One relocation with addend, `Elf64_Rela`.
    private struct Relocation {
        var offset: UInt
        var info: UInt
        var addend: Int

        var symbol: Int { Int(info >> 32) }
    }

    /// One entry of the dynamic section, `Elf64_Dyn`.
    private struct Entry {
        var tag: Int
        var value: UInt
    }

    /// The numbers of the entries (ELF, "Dynamic Section").
    private enum Tag {
        static let end = 0
        static let jumpByteCount = 2
        static let texts = 5
        static let symbols = 6
        static let relocations = 7
        static let relocationByteCount = 8
        static let jumps = 23
    }

    /// The length of an `Elf64_Sym`, which begins with its name's place, 32 bits.
    private static let symbolByteCount = 24

    /// `dlinfo` and its request for the link map, 2 (dlfcn.h), which Swift's view of the C library leaves out.
    private typealias Information = @convention(c) (UnsafeMutableRawPointer, Int32, UnsafeMutableRawPointer) -> Int32
    private static let linkMap: Int32 = 2

    private let base: UInt
    private var values: [Int: UInt] = [:]

    /// Finds a library that is loaded already; nil when it is not, or not as expected.
    ///
    /// - Parameter library: Its name, such as `librdkafka.so.1`; nil for the program itself.
    init?(of library: String?) {
        // With RTLD_NOLOAD the library is only looked up. It stays loaded: the program was linked with it.
        guard let handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD), let look = dlsym(nil, "dlinfo") else { return nil }
        // struct link_map: the base address, the name, the dynamic section (link.h).
        var map: UnsafePointer<(base: UInt, name: UnsafePointer<CChar>?, dynamic: UnsafePointer<Entry>?)>?
        let isFound = withUnsafeMutablePointer(to: &map) {
            unsafeBitCast(look, to: Information.self)(handle, Self.linkMap, $0) == 0
        }
        guard isFound, let map, var entry = map.pointee.dynamic else { return nil }
        base = map.pointee.base
        while entry.pointee.tag != Tag.end {
            values[entry.pointee.tag] = entry.pointee.value
            entry += 1
        }
    }

    /// The places of the address of `name`.
    func slots(of name: String) -> [UnsafeMutablePointer<UInt>] {
        slots(of: name, Tag.jumps, Tag.jumpByteCount) + slots(of: name, Tag.relocations, Tag.relocationByteCount)
    }

    private func slots(of name: String, _ table: Int, _ byteCount: Int) -> [UnsafeMutablePointer<UInt>] {
        guard let start = values[table].flatMap({ UnsafePointer<Relocation>(bitPattern: $0) }), let byteCount = values[byteCount],
            let symbols = values[Tag.symbols], let texts = values[Tag.texts]
        else { return [] }
        let count = Int(byteCount) / MemoryLayout<Relocation>.stride
        return UnsafeBufferPointer(start: start, count: count).compactMap { relocation in
            guard relocation.symbol > 0,
                let symbol = UnsafePointer<UInt32>(bitPattern: symbols + UInt(relocation.symbol * Self.symbolByteCount)),
                let text = UnsafePointer<CChar>(bitPattern: texts + UInt(symbol.pointee)), strcmp(text, name) == 0
            else { return nil }
            return UnsafeMutablePointer<UInt>(bitPattern: base + relocation.offset)
        }
    }

    /// Writes `address` into a place, also into one that the linker has made read-only since.
    static func write(_ address: UInt, to slot: UnsafeMutablePointer<UInt>) {
        let pageByteCount = UInt(sysconf(Int32(_SC_PAGESIZE)))
        let place = UInt(bitPattern: slot)
        guard let page = UnsafeMutableRawPointer(bitPattern: place / pageByteCount * pageByteCount),
            mprotect(page, Int(pageByteCount), PROT_READ | PROT_WRITE) == 0
        else { return }
        slot.pointee = address
    }
}
