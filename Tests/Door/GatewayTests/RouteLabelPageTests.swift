@testable import GatewayAPI
import TestSupport
import Testing

/// The values of the label `route`, as page Monitoring lists them.
@Suite struct RouteLabelPageTests {
    @Test func pageMonitoringHasTheLabelsOfTheRoutes() throws {
        let rows = APIOperation.allCases.map { ["`\($0.row.label)`", "`\($0.row.method) \($0.row.path)`"] }
        let page = try GeneratedPage("Monitoring")
        #expect(page.parts(of: "labels") == ["route"])
        let difference = try page.difference("labels") { _ in
            GeneratedPage.table(["`route`", "Of"], rows + [["`\(Route.Match.nowhere.label)`", "any other path or method"]])
        }
        #expect(difference == nil)
    }

    /// The page has two addresses.
    @Test func eachOperationHasALabelOfItsOwn() {
        let labels = APIOperation.allCases.filter { $0 != .page(.leadToPage) }.map(\.row.label)
        #expect(Set(labels).count == labels.count && !labels.contains("none"))
    }
}
