import AppVault
import Glibc

func exit(_ status: Int32) -> Never { Glibc.exit(status) }

/// The machine's own daemon, or a private one that a test names.
var configuration: Vault.Configuration {
    var configuration = Vault.Configuration()
    if let socket = getenv("NOTEBOOK_SOCKET") { configuration.socket = String(cString: socket) }
    return configuration
}
