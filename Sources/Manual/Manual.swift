import Client

/// The manual pages, all of them made from the tables that the programs themselves use.
package enum Manual {
    package static var pages: [Page] {
        [
            AppvaultPage.page(Version.text), DaemonPage.page(Version.text),
            ModulePage.page(Version.text), PolicyPage.page(Version.text),
        ]
    }
}
