import TestSupport
import Testing

@testable import Gateway

/// The values of the label `route`, as page Monitoring lists them.
@Suite struct RouteLabelPageTests {
    private static let page = [
        ("GET", "/ui"), ("GET", "/ui/{name}"), ("POST", "/ui/session"), ("GET", "/ui/session"), ("DELETE", "/ui/session"),
    ]

    private static let calls = APIOperation.allCases.map { ($0.row.method, $0.row.path) } + page

    @Test func pageMonitoringHasTheLabelsOfTheRoutes() throws {
        let rows = Self.calls.map { ["`\(Self.label($0.0, $0.1))`", "`\($0.0) \($0.1)`"] }
        let page = try GeneratedPage("Monitoring")
        #expect(page.parts(of: "labels") == ["route"])
        let difference = try page.difference("labels") { _ in
            GeneratedPage.table(["`route`", "Of"], rows + [["`\(Route.Match.nowhere.label)`", "any other path or method"]])
        }
        #expect(difference == nil)
    }

    /// A route that is added gets a row by its operation. Each of the page has to be listed here.
    @Test func eachRouteOfThePageIsListed() {
        let routes: [PageRoute] = [.index, .file(name: "a"), .session(.begin), .session(.show), .session(.end)]
        #expect(Self.page.map { Self.label($0.0, $0.1) } == routes.map(\.label))
        #expect(PageRoute.folder.label == PageRoute.index.label)
    }

    @Test func eachOperationHasALabelOfItsOwn() {
        let labels = Self.calls.map { Self.label($0.0, $0.1) }
        #expect(Set(labels).count == labels.count && !labels.contains("none"))
    }

    private static func label(_ method: String, _ path: String) -> String {
        Route.match(method, path: path.replacing("{id}", with: "a").replacing("{name}", with: "a")[...]).label
    }
}
