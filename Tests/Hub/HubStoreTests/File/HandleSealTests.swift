import HubServer
import Testing

@testable import HubStore

@Suite struct HandleSealTests {
    private static let key = [UInt8](1...32)
    private static let device = DeviceKey(
        platform: .apple, handle: "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0")

    @Test(arguments: [[], [0], Array("a handle".utf8), [UInt8](repeating: 7, count: 5000)] as [[UInt8]], [nil, key])
    func whatIsSealedCanBeOpened(bytes: [UInt8], key: [UInt8]?) throws {
        let seal = try HandleSeal(key: key)
        let sealed = try seal.sealed(bytes)
        #expect(try seal.opened(sealed) == bytes)
        #expect(try seal.sealed(bytes) == sealed)
        #expect(sealed.count == bytes.count + (key == nil ? 1 : 29))
        #expect(seal.isSealing == (key != nil))
    }

    @Test func aHandleIsNotInItsSeal() throws {
        let seal = try HandleSeal(key: Self.key)
        let handle = Array(Self.device.handle.utf8)
        let sealed = try seal.sealed(handle)
        #expect(!sealed.indices.contains { sealed[$0...].starts(with: handle.prefix(4)) })
        #expect(try seal.sealed(handle + [0]).dropFirst().prefix(12) != sealed.dropFirst().prefix(12), "no nonce comes twice")
    }

    @Test func whatWasChangedOrSealedOtherwiseCannotBeOpened() throws {
        let seal = try HandleSeal(key: Self.key)
        let sealed = try seal.sealed(Array("handle".utf8))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 2
            expectUnavailable { () throws(RefusedCall) in _ = try seal.opened(changed) }
        }
        for count in 0..<sealed.count {
            expectUnavailable { () throws(RefusedCall) in _ = try seal.opened(Array(sealed.prefix(count))) }
        }
        for other in [nil, [UInt8](2...33)] {
            let other = try HandleSeal(key: other)
            expectUnavailable { () throws(RefusedCall) in _ = try other.opened(sealed) }
        }
    }

    @Test func aFingerprintIsOfItsDeviceAndKey() throws {
        let devices = [
            Self.device, DeviceKey(platform: .fcmv1, handle: Self.device.handle), DeviceKey(platform: .apple, handle: "AB"),
        ]
        let seals = try [nil, Self.key, [UInt8](2...33)].map { try HandleSeal(key: $0) }
        var fingerprints: Set<[UInt8]> = []
        for (seal, device) in seals.flatMap({ seal in devices.map { (seal, $0) } }) {
            let fingerprint = try seal.fingerprint(of: device)
            #expect(fingerprint.count == 16)
            #expect(try seal.fingerprint(of: device) == fingerprint)
            fingerprints.insert(fingerprint)
        }
        #expect(fingerprints.count == 9)
    }
}
