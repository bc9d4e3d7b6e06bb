import Basics
import GatewayAPI
import HTTPServing
import PushModel

/// The handle by which `POST /api/register?handle=` looks for what the hub has of a device. The call does not say the platform.
///
/// Handles are secrets: no description shows them.
struct HandleQuery: Sendable, Equatable {
    /// The handle as the hub keeps it.
    let text: String
    /// Apple for what can be an Apple token; else nil, which looks on every platform.
    let platform: Platform?

    /// Reads the query.
    ///
    /// - Parameter query: The decoded items, `+` being a plus.
    /// - Returns: The handle; nil when it is missing or empty.
    /// - Throws: 400 for what no device can have as its handle, with the remedy for the description of a token.
    static func read(_ query: [HTTPServerRequest.QueryItem]) throws(APIProblem) -> HandleQuery? {
        guard let value = try QueryItems(query).value("handle") else { return nil }
        do throws(DeviceToken.Problem) {
            return try HandleQuery(value)
        } catch {
            throw .invalid(error.description)
        }
    }

    /// Checks a handle of an unknown platform.
    ///
    /// - Throws: `DeviceToken.Problem`.
    init(_ handle: String) throws(DeviceToken.Problem) {
        platform = try Self.platform(of: handle)
        // Platforms other than Apple and browsers ask for nothing more than visible characters.
        text = try DeviceToken.normalForm(handle, on: platform ?? .fcmv1)
    }

    private static func platform(of handle: String) throws(DeviceToken.Problem) -> Platform? {
        do throws(DeviceToken.Problem) {
            _ = try DeviceToken.normalForm(handle, on: .apple)
            return .apple
        } catch {
            if error == .elided { throw error }
            return nil
        }
    }
}

extension HandleQuery: Concealed {
    /// The platform alone.
    var description: String { "HandleQuery(\(platform.map { "\($0.name)" } ?? "any"))" }
}
