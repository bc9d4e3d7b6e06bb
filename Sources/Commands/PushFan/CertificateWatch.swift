import Dispatch
import Kafka
import KafkaCare
import Observability
import Settings

/// Shows the ends of a program's certificates in its metrics: now, and each minute, since files are replaced while it runs.
final class CertificateWatch {
    private let timer: RepeatingTimer

    init(_ settings: Settings, ends: Family<Gauge, 1>) {
        let hubFiles = settings.allHubs.compactMap(\.authorityFile)
        let kafka = settings.kafkaConfiguration()
        let show: @Sendable () -> Void = { [live = settings.liveProperties] in
            let found = CertificateSource.all(live?.current ?? kafka.properties, hubFiles: hubFiles).ends
            for use in CertificateSource.Use.allCases {
                if let end = found[use] { ends.series([use.rawValue]).set(Double(end)) } else { ends.remove([use.rawValue]) }
            }
        }
        show()
        timer = RepeatingTimer(every: .seconds(60), work: show)
    }

    func cancel() { timer.cancel() }
}
