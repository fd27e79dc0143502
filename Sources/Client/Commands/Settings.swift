/// The settings that every verb takes.
struct Settings: Equatable {
    enum Form: Equatable { case plain, json }
    enum Agreement: Equatable { case ask, given }

    var form = Form.plain
    var store: [UInt8] = []
    var socket = Connection.defaultPath
    var user: [UInt8] = []
    var agreement = Agreement.ask
    var passcodeDescriptor: Int32?
    var pamFolder: [UInt8]?
    /// What says what a picture has in it.
    var scanner = Array("/usr/libexec/appvault/appvault-scan".utf8)
}
