package import Crypto
package import Kafka

/// A certificate that a program needs, and its place. Of what brokers and the hub show, nothing is known here.
package struct CertificateSource: Sendable, Equatable {
    /// The purpose of a certificate.
    package enum Use: String, Sendable, CaseIterable {
        /// Names the program to brokers.
        case kafka
        /// Vouches for brokers.
        case kafkaAuthority = "kafka_ca"
        /// Vouches for hubs.
        case hubAuthority = "hub_ca"
    }

    enum Place: Sendable, Equatable {
        case file(String)
        case text(String)
    }

    /// Its purpose.
    package let use: Use
    /// The setting or the property that names it.
    package let setting: String
    let place: Place

    /// The certificates that settings name.
    ///
    /// - Parameters:
    ///   - properties: The user's properties of Kafka's clients. Of two for one key the later counts.
    ///   - hubFiles: The files of `hub.ca_file`, of all hubs.
    /// - Returns: One for each purpose of Kafka's clients at most, and one for each file.
    package static func all(_ properties: [KafkaConfiguration.Property], hubFiles: [String]) -> [CertificateSource] {
        func source(_ use: Use, named name: String) -> CertificateSource? {
            func value(_ key: String) -> String? { properties.last { $0.key == key && !$0.value.isEmpty }?.value }
            if let text = value("\(name).pem") { return CertificateSource(use: use, setting: "\(name).pem", place: .text(text)) }
            return value("\(name).location").map { CertificateSource(use: use, setting: "\(name).location", place: .file($0)) }
        }
        let hubs = Set(hubFiles).sorted().map { CertificateSource(use: .hubAuthority, setting: "hub.ca_file", place: .file($0)) }
        return [source(.kafka, named: "ssl.certificate"), source(.kafkaAuthority, named: "ssl.ca")].compactMap(\.self) + hubs
    }

    /// The moment from which it is of no use, in seconds since 1970: the end of the first of a chain, or of the last of those that vouch for
    /// others. New ones are often put beside old ones there.
    ///
    /// - Throws: `CryptoError.openSSL` where it cannot be read.
    package func end() throws(CryptoError) -> Int64 {
        let ends: CertificateEnds
        switch place {
        case .file(let path): ends = try CertificateEnds(file: path)
        case .text(let pem): ends = try CertificateEnds(pem: pem)
        }
        return use == .kafka ? ends.first : ends.last
    }
}

extension [CertificateSource] {
    /// The first end for each purpose, in seconds since 1970. One that cannot be read has none: its user says why.
    package var ends: [CertificateSource.Use: Int64] {
        Dictionary(compactMap { source in (try? source.end()).map { (source.use, $0) } }, uniquingKeysWith: Swift.min)
    }
}
