import Client

/// The manual pages, all of them made from the tables that the programs themselves use.
package enum Manual {
    package static var pages: [Page] {
        [
            AppvaultPage.page(ThisRelease.text), DaemonPage.page(ThisRelease.text),
            ModulePage.page(ThisRelease.text), PolicyPage.page(ThisRelease.text),
        ]
    }
}
