import Foundation
import Testing

@testable import HubServer
@testable import HubStore

/// What the bytes of a file tell to those who find it.
struct DeviceSecrecyTests {
    private static let endpoint = "https://push.example/endpoint-of-a-browser"
    private static let tileChannel = "https://push.example/channel-of-a-tile"
    private static let token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

    /// A browser with its keys, a device of Windows with a tile, and one token in two spellings.
    private func fill(_ file: DeviceFile) throws {
        try file.devices.change { (book) throws(RefusedCall) in
            var browser = Registration(id: "1-1-1", platform: .browser, handle: Self.endpoint, tags: ["plain-tag"])
            browser.extras = ["P256DH": "key-of-the-browser", "Auth": "secret-of-the-browser"]
            try book.write(browser)
            try book.write(Registration(id: "2-1-1", platform: .apple, handle: Self.token, tags: ["$UserId:{alice}"]))
            try book.write(Registration(id: "3-1-1", platform: .apple, handle: Self.token.uppercased(), tags: []))
            let target = InstallationTarget(pushChannel: "https://push.example/channel-of-a-device", tags: ["topic-of-alice"])
            var installation = StoredInstallation(id: "installation-of-alice", platform: .windows, target: target)
            installation.userID = "alice"
            installation.secondaryTiles = [("tile", InstallationTarget(pushChannel: Self.tileChannel, tags: []))]
            var number = 3
            let registrations = installation.registrations {
                number += 1
                return "\(number)-1-1"
            }
            try book.write(installation, as: registrations)
            // A channel goes back into the document when its registration is removed.
            try book.removeRegistration("4-1-1")
        }
    }

    private static let handles = [
        "endpoint-of-a-browser", "key-of-the-browser", "secret-of-the-browser", "channel-of-a-tile", "channel-of-a-device",
        token, token.uppercased(),
    ]

    @Test func sealedHandlesAreNowhereInTheFile() throws {
        let file = try DeviceFile(isSealed: true)
        try fill(file)
        let bytes = try file.closedBytes()
        for handle in Self.handles { #expect(bytes.range(of: Data(handle.utf8)) == nil, "\(handle)") }
        #expect(bytes.range(of: Data("plain-tag".utf8)) != nil)
    }

    @Test func sealedHandlesAreReadAgain() throws {
        let file = try DeviceFile(isSealed: true)
        try fill(file)
        try file.reopen()
        let answer = try file.devices.read { (book) throws(RefusedCall) in
            let browser = try book.registration("1-1-1")
            let installation = try book.installation("installation-of-alice")
            return [
                browser?.handle, browser?.extras["Auth"], try book.registration("2-1-1")?.handle,
                try book.registration("3-1-1")?.handle, installation?.target.pushChannel,
                installation?.secondaryTiles.first?.target.pushChannel,
            ]
        }
        #expect(
            answer == [
                Self.endpoint, "secret-of-the-browser", Self.token, Self.token.uppercased(),
                "https://push.example/channel-of-a-device", Self.tileChannel,
            ])
    }

    @Test func anErasedUserLeavesNoNameBehind() throws {
        let file = try DeviceFile()
        try fill(file)
        try file.reopen()
        try file.devices.change { (book) throws(RefusedCall) in
            try book.removeInstallation("installation-of-alice")
            for id in ["2-1-1", "3-1-1"] { try book.removeRegistration(id) }
        }
        #expect(try file.problems() == [])
        let bytes = try file.closedBytes()
        for name in ["alice", "channel-of-a-tile", "channel-of-a-device", Self.token, Self.token.uppercased()] {
            #expect(bytes.range(of: Data(name.utf8)) == nil, "\(name)")
        }
        #expect(bytes.range(of: Data("endpoint-of-a-browser".utf8)) != nil)
    }
}
