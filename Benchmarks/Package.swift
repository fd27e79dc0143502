// swift-tools-version: 6.2
import PackageDescription

// C on both sides of every pair, so that what is compared is AppVault and not the client that measures it.
let package = Package(
    name: "Benchmarks",
    products: [.library(name: "empty", type: .dynamic, targets: ["Empty"])],
    targets: [
        .target(name: "Empty"),
        .executableTarget(
            name: "bench",
            cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])],
            linkerSettings: [
                .linkedLibrary("sodium"), .linkedLibrary("sqlite3"), .linkedLibrary("pam"),
                // The module asks libc for accounts; ours answers for those that exist in the bench alone.
                .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getpwnam_r"]),
            ]),
    ]
)
