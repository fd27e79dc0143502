import Bus
import Posix
import Wire

/// What xdg-desktop-portal asks for programs in a sandbox: the key with which each of them seals its
/// own secrets. Nobody else is answered: the portal alone knows which program it is.
@LoopActor
final class PortalTree: BusTree {
    static let root = "/org/freedesktop/portal/desktop"
    static let portal = "org.freedesktop.portal.Desktop"
    private static let interface = "org.freedesktop.impl.portal.Secret"
    private static let requestInterface = "org.freedesktop.impl.portal.Request"
    /// Programs that wait for the person at the same time.
    private static let mostRequests = 64
    /// Bytes of the name of a program. The portal's own limit is D-Bus's, of 255.
    private static let longestName = 255

    let unknownObject = BusRefusal.unknownObject
    private let bus: Bus
    private let keeper: any Keeper
    private let prompts: Prompts
    private let journal: Journal
    private let keys: PortalKeys
    private var requests: [String: Request] = [:]

    /// One that waits until the store is open, or until it is closed.
    private final class Request {
        let client: BusClient
        var prompt: Prompt?
        var isClosed = false

        init(_ client: BusClient) { self.client = client }
    }

    /// As the portal's specification has them.
    private enum Response: UInt32 {
        case done, cancelled, failed
    }

    init(_ bus: Bus, _ keeper: any Keeper, _ prompts: Prompts, _ journal: Journal) {
        (self.bus, self.keeper, self.prompts, self.journal) = (bus, keeper, prompts, journal)
        keys = PortalKeys(keeper)
    }

    /// From now on it is known who the portal is.
    func begin(until deadline: UInt64) async throws(BusError) {
        // A program may have closed its end of the pipe.
        ToolIO.ignoreBrokenPipes()
        try await bus.follow(Self.portal, until: deadline) { _ in }
        bus.serve(self, at: Self.root)
    }

    // MARK: The objects

    private static let secret = BusInterface(
        interface,
        methods: [
            .init(
                "RetrieveSecret",
                takes: [
                    .init("handle", "o"), .init("app_id", "s"), .init("fd", "h"),
                    .init("options", "a{sv}"),
                ], gives: [.init("response", "u"), .init("results", "a{sv}")])
        ], properties: [.init("version", "u")])
    private static let request = BusInterface(requestInterface, methods: [.init("Close")])

    func interfaces(for call: BusTreeCall) async -> [BusInterface]? {
        if call.path == Self.root { return [Self.secret] }
        return requests[call.path] == nil ? nil : [Self.request]
    }

    func children(of path: String) -> [String] { [] }

    /// The person may have to be asked, and other programs must not wait for that.
    func takesLong(_ method: String) -> Bool { method == "RetrieveSecret" }

    func call(
        _ method: String, of interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> [BusValue] {
        guard call.client.name == bus.owner(of: Self.portal) else {
            throw .accessDenied("only for xdg-desktop-portal")
        }
        guard interface == Self.interface else {
            guard let request = requests[call.path], request.client === call.client else {
                throw .unknownObject
            }
            close(request)
            return []
        }
        let response = try await retrieve(call)
        return [.uint32(response.rawValue), .dictionary([:])]
    }

    func value(
        of property: String, in interface: String, _ call: BusTreeCall
    ) async throws(BusRefusal) -> BusValue { .uint32(1) }

    func set(
        _ property: String, in interface: String, to value: BusValue, _ call: BusTreeCall
    ) async throws(BusRefusal) { throw .propertyReadOnly("it cannot be set") }

    func left(_ client: BusClient) {
        for request in requests.values where request.client === client { close(request) }
    }

    private func close(_ request: Request) {
        request.isClosed = true
        if let prompt = request.prompt { prompts.dismiss(prompt) }
    }

    // MARK: One request

    private func retrieve(_ call: BusTreeCall) async throws(BusRefusal) -> Response {
        let handle: String
        let application: String
        let output: FileDescriptor
        do throws(BusError) {
            handle = try call.message.objectPath()
            application = try call.message.string()
            output = try call.message.descriptor()
        } catch {
            throw .invalidArguments("the call is not understood")
        }
        guard handle.hasPrefix(Self.root + "/"), requests[handle] == nil else {
            throw .invalidArguments("the handle is not one for a new request")
        }
        // Without a name it is not known whose key it would be.
        guard !application.isEmpty, application.utf8.count <= Self.longestName else {
            throw .invalidArguments("app_id is not the name of a program in a sandbox")
        }
        guard requests.count < Self.mostRequests else {
            throw .limitsExceeded("too many programs wait for the person")
        }
        let request = Request(call.client)
        requests[handle] = request
        defer { requests[handle] = nil }
        journal.note(call.client, "asks for the key of \(application)", in: "\"Login\"")
        _ = await keeper.ready(until: deadline)
        for _ in 0..<Self.attempts {
            guard try await opens(request) else { return .cancelled }
            do throws(KeeperError) {
                let key = try await keys.key(of: application, until: deadline)
                guard !request.isClosed else { return .cancelled }
                return give(key, output)
            } catch {
                // It was locked between the two.
                if error == .locked { continue }
                Complaint.say("no key for \(application): \(error)")
                return .failed
            }
        }
        return .failed
    }

    private static let attempts = 3

    private var deadline: UInt64 { Clock.bootMilliseconds() + SecretTree.patience }

    /// Asks the person if need be; false if they do not want it, or the request was closed.
    private func opens(_ request: Request) async throws(BusRefusal) -> Bool {
        if request.isClosed { return false }
        if keeper.isOpen { return true }
        let ended = First<Bool>()
        let prompt = try prompts.make(
            for: request.client, dismissedResult: .string(""), needs: [keeper],
            heard: { isDismissed in ended.settle(!isDismissed) }
        ) { .string("") }
        request.prompt = prompt
        prompts.begin(prompt)
        let isOpen = await ended.value()
        request.prompt = nil
        return isOpen && !request.isClosed
    }

    private func give(_ key: WipedBuffer, _ output: borrowing FileDescriptor) -> Response {
        do throws(PosixError) {
            try Handover.write(key, into: output)
            return .done
        } catch {
            Complaint.say("a key could not be handed over: \(error)")
            return .failed
        }
    }
}
