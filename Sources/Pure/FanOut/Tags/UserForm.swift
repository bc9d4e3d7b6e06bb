import Basics

/// The text that stands for a user's name in a tag: the one rule for gateways, which register devices, and for requests, which
/// reach them.
///
/// - A name of characters that a tag may have, and no longer than fits, is its own form, byte for byte.
/// - Any other is composed first (Unicode NFC), so that one name has one form however its letters are written. Its form is `x.`
///   and the hexadecimal digits of its UTF-8, or `h.` and those of its SHA-256 where that would be too long.
///
/// The case of a name counts in the second, so a name is given as it was registered.
enum UserForm {
    /// True if a name is its own form: it fits into `longest` characters, and has those of a tag alone.
    static func isOwn(_ name: Span<UInt8>, longest: Int) -> Bool {
        guard (1...max(1, longest)).contains(name.count) else { return false }
        for index in name.indices where !name[index].isTagCharacter { return false }
        return true
    }

    /// The form of a name that is registered.
    ///
    /// A name that looks like a form is encoded, too. So no choice of a name gives the tag of another user.
    static func registered(_ name: String, longest: Int) -> [UInt8] {
        let bytes = Array(UserName.composed(name).utf8)
        return isOwn(bytes.span, longest: longest) && !isEncoded(bytes) ? bytes : encoded(bytes, longest: longest)
    }

    /// The form of a name in a request that is not its own.
    ///
    /// A name that looks like a form is one there, because gateways and parts of large requests name users by their forms.
    static func requested(_ name: String, longest: Int) -> [UInt8] {
        let bytes = Array(UserName.composed(name).utf8)
        return isOwn(bytes.span, longest: longest) ? bytes : encoded(bytes, longest: longest)
    }

    /// The name by which a request reaches a user, or nil for one that looks like a form, or that no request may have.
    static func address(of name: String) -> String? {
        let name = UserName.composed(name)
        return UserName.isAddressable(name) && !isEncoded(Array(name.utf8)) ? name : nil
    }

    /// The address of the user of a form, or nil for a digest.
    static func address(ofForm form: String) -> String? {
        if let name = name(ofForm: form) { return address(of: name) ?? form }
        let bytes = Array(form.utf8)
        return isEncoded(bytes) && bytes[0] | 0x20 == UInt8(ascii: "h") ? nil : form
    }

    /// The name whose bytes a form has, or nil for any other form.
    static func name(ofForm form: String) -> String? {
        let bytes = Array(form.utf8)
        guard isEncoded(bytes), bytes[0] | 0x20 == UInt8(ascii: "x") else { return nil }
        let digits = bytes.dropFirst(2).map { $0.hexadecimalValue ?? 0 }
        let name = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return String(validating: name, as: UTF8.self)
    }

    private static func encoded(_ name: [UInt8], longest: Int) -> [UInt8] {
        let fits = 2 + 2 * name.count <= longest
        return Array((fits ? "x." : "h.").utf8) + Hexadecimal.digits(of: fits ? name : SHA256.digest(of: name))
    }

    /// True if a name has the shape of an encoded form: `x.` and bytes, or `h.` and a digest, in any case.
    private static func isEncoded(_ name: [UInt8]) -> Bool {
        guard name.count >= 2, name[1] == UInt8(ascii: ".") else { return false }
        let digits = name[2...]
        let isHexadecimal = digits.allSatisfy(\.isHexadecimalDigit)
        switch name[0] | 0x20 {
        case UInt8(ascii: "x"): return isHexadecimal && digits.count.isMultiple(of: 2)
        case UInt8(ascii: "h"): return isHexadecimal && digits.count == 64
        default: return false
        }
    }
}
