import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

/// The faults of a server beside the hub.
struct FaultBoardTests {
    private static func ask(_ board: FaultBoard, _ method: String, _ body: String = "") -> HTTPServerResponse {
        board.answer(HTTPServerRequest(method: method, target: "/faults", body: Array(body.utf8)))
    }

    private static func strikes(_ board: FaultBoard, _ count: Int) -> [String] {
        (0..<count).map { _ in board.strike(HTTPServerRequest(method: "POST", target: "/v1/requests"))?.text ?? "-" }
    }

    @Test func aPutReplacesAPostAddsAndADeleteRemoves() {
        let board = FaultBoard()
        #expect(Self.ask(board, "PUT", #"["status=503,count=1"]"#).status == 200)
        #expect(Self.strikes(board, 2) == ["status=503,count=1", "-"])
        #expect(Self.ask(board, "PUT", "status=429,count=1").status == 200)
        #expect(Self.ask(board, "POST", "delay=1s,count=1\nstatus=504,path=/v1/requests").status == 200)
        #expect(Self.strikes(board, 3) == ["status=429,count=1", "delay=1s,count=1", "status=504,path=/v1/requests"])
        #expect(String(decoding: Self.ask(board, "GET").body, as: UTF8.self).contains(#""fault":"status=429,count=1","met":"#))
        #expect(Self.ask(board, "DELETE").status == 204)
        #expect(Self.strikes(board, 1) == ["-"])
    }

    @Test(arguments: [
        ("PUT", "/faults", "[", 400, "the body is not valid JSON\n"), ("PATCH", "/faults", "", 405, ""),
        ("POST", "/faults", "boom", 400, "\(FaultError.unknownField("boom"))\n"), ("GET", "/devices", "", 404, "not found\n"),
    ])
    func whatIsNoFaultIsRefusedAndChangesNothing(
        _ method: String, _ path: String, _ body: String, _ status: Int, _ text: String
    ) {
        let board = FaultBoard()
        _ = Self.ask(board, "PUT", "hang")
        let answer = board.answer(HTTPServerRequest(method: method, target: path, body: Array(body.utf8)))
        #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self) == text)
        #expect(Self.strikes(board, 1) == ["hang"])
    }
}
