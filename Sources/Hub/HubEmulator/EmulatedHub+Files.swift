import Crypto
import Foundation
import HTTPServing
import HubServer

extension EmulatedHub {
    /// Registers the installations of a JSON file.
    func loadDevices(from path: String) throws(HubEmulatorError) {
        let bytes = try Self.read(path)
        do {
            let now = clock()
            for installation in try InstallationReader(bytes).installations() { try hub.write(installation, at: now) }
        } catch {
            throw .invalidDevices(path: path, reason: error.answer.detail ?? "")
        }
    }

    /// The certificate and key to serve with, or `nil` for plain HTTP.
    func identity() throws(HubEmulatorError) -> HTTPServerConfiguration.Identity? {
        switch configuration.tls {
        case .off:
            return nil
        case .files(let certificate, let key):
            return HTTPServerConfiguration.Identity(
                certificateChain: String(decoding: try Self.read(certificate), as: UTF8.self),
                privateKey: String(decoding: try Self.read(key), as: UTF8.self))
        case .selfSigned:
            var hosts = ["localhost", "127.0.0.1", "::1"]
            if let host = HTTPServerConfiguration.host(of: configuration.listen), !host.isEmpty, !hosts.contains(host),
                !["0.0.0.0", "::"].contains(host)
            {
                hosts.append(host)
            }
            do {
                let made = try SelfSignedCertificate(hosts: hosts)
                return HTTPServerConfiguration.Identity(
                    certificateChain: made.certificatePEM, privateKey: made.privateKeyPEM)
            } catch {
                throw .noCertificate(reason: error.description)
            }
        }
    }

    private static func read(_ path: String) throws(HubEmulatorError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw .unreadableFile(path: path) }
        return Array(data)
    }
}
