import Basics
import Testing

@Suite struct NumericAddressTests {
    @Test(
        arguments: [
            ("1.2.3.4", 32), ("0.0.0.0", 32), ("255.255.255.255", 32), ("::", 128), ("1::", 128), ("::1", 128),
            ("1:2:3:4:5:6:7:8", 128), ("1:2:3:4:5:6:7::", 128), ("::2:3:4:5:6:7:8", 128), ("1:2:3:4:5:6:1.2.3.4", 128),
            ("::1.2.3.4", 128), ("FfFf::abCD", 128), ("", nil), ("1.2.3", nil), ("1.2.3.4.5", nil), ("1.2.3.256", nil),
            ("1.2.3.04", nil), ("1.2.3.+4", nil), ("1..2.3", nil), (" 1.2.3.4", nil), ("1.2.3.4 ", nil), (":", nil),
            (":::", nil), ("1:2:3:4:5:6:7", nil), ("1:2:3:4:5:6:7:8:9", nil), ("1:2:3:4:5:6:7:8::", nil), ("1::2::3", nil),
            (":1::", nil), ("12345::", nil), ("g::", nil), ("+1::", nil), ("1.2.3.4::", nil), ("fe80::1%eth0", nil),
            ("[::1]", nil), ("a.example", nil),
        ] as [(String, Int?)])
    func onlyAddressesAreAddresses(text: String, width: Int?) {
        #expect(NumericAddress(text)?.width == width)
    }

    @Test(
        arguments: [
            ("::ffff:10.0.0.5", "10.0.0.5"), ("::FFFF:a00:5", "10.0.0.5"), ("10.0.0.5", "10.0.0.5"), ("::1", "::1"),
            ("::10.0.0.5", "::a00:5"), ("1::ffff:10.0.0.5", "1::ffff:10.0.0.5"),
        ])
    func aMappedAddressIsTheAddressThatItMaps(text: String, expected: String) throws {
        #expect(try #require(NumericAddress(text)).unmapped == NumericAddress(expected))
    }

    @Test(
        arguments: [
            ("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::"), ("2001:db8:1:2::", 64, "2001:db8:1:2::"),
            ("10.1.2.3", 32, "10.1.2.3"),
            ("10.1.2.3", 20, "10.1.0.0"), ("10.1.2.3", 0, "0.0.0.0"), ("ffff::1", 0, "::"), ("10.1.2.3", 99, "10.1.2.3"),
            ("10.1.2.3", -1, "0.0.0.0"),
        ])
    func aNetworkHasTheFirstBits(text: String, count: Int, expected: String) throws {
        #expect(try #require(NumericAddress(text)).network(ofBits: count) == NumericAddress(expected))
    }

    @Test(
        arguments: [
            ([10, 1, 2, 3], "10.1.2.3"), ([255, 0, 0, 0], "255.0.0.0"),
            ([0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "2001:db8::1"),
            ([UInt8](repeating: 255, count: 16), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ([], nil), ([10, 1, 2], nil),
            ([UInt8](repeating: 0, count: 5), nil), ([UInt8](repeating: 0, count: 17), nil),
        ] as [([UInt8], String?)])
    func fourOrSixteenBytesAreAnAddress(bytes: [UInt8], text: String?) {
        #expect(NumericAddress(bytes: bytes) == text.flatMap { NumericAddress($0) })
    }

    @Test(
        arguments: [
            ("::ffff:10.0.0.5", 96, "10.0.0.5"), ("2002:a00:5::1", 16, "10.0.0.5"), ("a00:5::1", 0, "10.0.0.5"),
            ("::1", 97, nil), ("::1", -1, nil), ("10.0.0.5", 0, nil),
        ] as [(String, Int, String?)])
    func anAddressMayHaveAnotherOneWithinIt(text: String, count: Int, expected: String?) throws {
        #expect(try #require(NumericAddress(text)).embedded(behind: count) == expected.flatMap { NumericAddress($0) })
    }
}
