internal import CXcb

/// A connection to the X server.
@safe
final class Server {
    enum Failure: Error {
        /// There is none at $DISPLAY, or it does not let us in.
        case unreachable
        /// It does not tell which process a client is.
        case noClients
        /// It has closed the connection in the middle.
        case lost
    }

    enum Mapping { case hidden, shown }

    struct Window {
        var id: UInt32
        var mapping: Mapping
        /// Menus, tooltips: no window manager puts them into a frame.
        var isUnmanaged: Bool
    }

    private let connection: OpaquePointer
    /// The bits of an id by which a client tells its own windows apart.
    private let ownBits: UInt32
    let roots: [UInt32]

    init() throws(Failure) {
        // SAFETY: the connection is closed in deinit alone, also where it has failed. The setup lives
        // as long as the connection.
        guard let connection = unsafe xcb_connect(nil, nil) else { throw .unreachable }
        unsafe self.connection = connection
        guard unsafe xcb_connection_has_error(connection) == 0,
            let setup = unsafe xcb_get_setup(connection)
        else {
            ownBits = 0
            roots = []
            throw .unreachable
        }
        unsafe ownBits = setup.pointee.resource_id_mask
        var roots: [UInt32] = []
        var screens = unsafe xcb_setup_roots_iterator(setup)
        while unsafe screens.rem > 0 {
            unsafe roots.append(screens.data.pointee.root)
            unsafe xcb_screen_next(&screens)
        }
        self.roots = roots
        guard unsafe appvault_has_xres(connection) != 0 else { throw .noClients }
    }

    deinit {
        // SAFETY: nothing uses the connection any more.
        unsafe xcb_disconnect(connection)
    }

    /// Ends this program after so many seconds, whatever it waits for. The server then lets go of the
    /// grab.
    static func limitTime(_ seconds: UInt32) { appvault_time_limit(seconds) }

    // MARK: Everything at once

    /// From here to `release` no other client is served, so nothing appears meanwhile.
    func grab() { _ = unsafe xcb_grab_server(connection) }

    func release() { _ = unsafe xcb_ungrab_server(connection) }

    /// Waits until the server has done all that it was asked for.
    func finish() throws(Failure) {
        // SAFETY: the reply is only freed.
        let reply = unsafe xcb_get_input_focus_reply(
            connection, xcb_get_input_focus(connection), nil)
        guard let reply = unsafe reply else { throw .lost }
        unsafe free(reply)
    }

    // MARK: Clients

    /// The process of each client, as the kernel told the server when the client connected. No client
    /// can say that it is another one, as it can by _NET_WM_PID.
    func processes() throws(Failure) -> Processes {
        var all = xcb_res_client_id_spec_t(
            client: 0, mask: XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue)
        // SAFETY: one specification is sent; the reply is freed behind its last use.
        let cookie = unsafe xcb_res_query_client_ids(connection, 1, &all)
        guard let reply = unsafe xcb_res_query_client_ids_reply(connection, cookie, nil) else {
            throw .lost
        }
        defer { unsafe free(reply) }
        var processes: [UInt32: UInt32] = [:]
        var values = unsafe xcb_res_query_client_ids_ids_iterator(reply)
        while unsafe values.rem > 0 {
            let process = unsafe appvault_client_process(values.data)
            if process != 0 {
                unsafe processes[values.data.pointee.spec.client & ~ownBits] = process
            }
            unsafe xcb_res_client_id_value_next(&values)
        }
        return Processes(ofClients: processes, ownBits: ownBits)
    }

    struct Processes {
        fileprivate let ofClients: [UInt32: UInt32]
        fileprivate let ownBits: UInt32

        fileprivate init(ofClients: [UInt32: UInt32], ownBits: UInt32) {
            self.ofClients = ofClients
            self.ownBits = ownBits
        }

        /// The clients whose processes are so.
        func clients(where isMeant: (UInt32) -> Bool) -> Clients {
            Clients(
                bases: Set(ofClients.filter { isMeant($0.value) }.keys), ownBits: ownBits)
        }
    }

    struct Clients {
        fileprivate let bases: Set<UInt32>
        fileprivate let ownBits: UInt32

        func own(_ window: UInt32) -> Bool { bases.contains(window & ~ownBits) }
    }

    // MARK: Windows

    /// The windows inside of each of these, the lowest first. A window that is gone has none.
    func children(of windows: [UInt32]) throws(Failure) -> [Window] {
        // All questions are sent before the first answer is waited for.
        let trees = windows.map { unsafe xcb_query_tree(connection, $0) }
        var found: [UInt32] = []
        for tree in trees {
            // SAFETY: the children are read before the reply is freed.
            guard let reply = unsafe xcb_query_tree_reply(connection, tree, nil) else { continue }
            let count = unsafe Int(xcb_query_tree_children_length(reply))
            unsafe found += UnsafeBufferPointer(
                start: xcb_query_tree_children(reply), count: count)
            unsafe free(reply)
        }
        let questions = found.map { unsafe xcb_get_window_attributes(connection, $0) }
        var children: [Window] = []
        for (id, question) in zip(found, questions) {
            // SAFETY: as above.
            guard
                let reply = unsafe xcb_get_window_attributes_reply(connection, question, nil)
            else { continue }
            let isMapped = unsafe UInt32(reply.pointee.map_state) != XCB_MAP_STATE_UNMAPPED.rawValue
            children.append(
                Window(
                    id: id, mapping: isMapped ? .shown : .hidden,
                    isUnmanaged: unsafe reply.pointee.override_redirect != 0))
            unsafe free(reply)
        }
        guard unsafe xcb_connection_has_error(connection) == 0 else { throw .lost }
        return children
    }

    func unmap(_ window: UInt32) { _ = unsafe xcb_unmap_window(connection, window) }

    func map(_ window: UInt32) { _ = unsafe xcb_map_window(connection, window) }

    // MARK: Properties

    struct Property: Equatable {
        var type: UInt32
        var format: UInt8
        var bytes: [UInt8]
    }

    /// The server's number for a name; 0 if it has no room for it.
    func atom(_ name: String) -> UInt32 {
        // SAFETY: the name is passed as a C string, for this call alone; the reply is freed here.
        let cookie = unsafe xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
        guard let reply = unsafe xcb_intern_atom_reply(connection, cookie, nil) else { return 0 }
        defer { unsafe free(reply) }
        return unsafe reply.pointee.atom
    }

    /// Nil if the window is gone or does not have it, or if it is longer than ours ever are.
    func property(_ name: UInt32, of window: UInt32) -> Property? {
        let words: UInt32 = 1024
        // SAFETY: the value is copied before the reply is freed.
        let cookie = unsafe xcb_get_property(connection, 0, window, name, 0, 0, words)
        guard let reply = unsafe xcb_get_property_reply(connection, cookie, nil) else { return nil }
        defer { unsafe free(reply) }
        guard unsafe reply.pointee.type != 0, unsafe reply.pointee.bytes_after == 0 else {
            return nil
        }
        let count = unsafe Int(xcb_get_property_value_length(reply))
        guard let value = unsafe xcb_get_property_value(reply) else { return nil }
        return unsafe Property(
            type: reply.pointee.type, format: reply.pointee.format,
            bytes: Array(UnsafeRawBufferPointer(start: value, count: count)))
    }

    func set(_ name: UInt32, of window: UInt32, to property: Property) {
        let unit = Int(property.format) / 8
        guard unit > 0 else { return }
        // SAFETY: the bytes are copied during the call; the count of units fits them.
        unsafe property.bytes.withUnsafeBytes { bytes in
            _ = unsafe xcb_change_property(
                connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, name, property.type,
                property.format, UInt32(bytes.count / unit), bytes.baseAddress)
        }
    }

    func delete(_ name: UInt32, of window: UInt32) {
        _ = unsafe xcb_delete_property(connection, window, name)
    }
}
