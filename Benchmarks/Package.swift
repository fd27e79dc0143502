// swift-tools-version: 6.2
import PackageDescription

// C on both sides of every pair but one, so that what is compared is AppVault and not the client that measures it.
let package = Package(
    name: "Benchmarks",
    products: [
        .library(name: "empty", type: .dynamic, targets: ["Empty"]),
        .library(name: "people", type: .dynamic, targets: ["People"]),
    ],
    dependencies: [.package(name: "AppVault", path: "..")],
    targets: [
        // The library, as a program of its own uses it.
        .executableTarget(
            name: "library", dependencies: [.product(name: "AppVault", package: "AppVault")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        // A client of the desktop's secrets, whoever keeps them.
        .executableTarget(
            name: "secrets",
            cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])],
            linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "Empty"),
        // Loaded before libc: the module and the daemon ask libc for accounts.
        .target(name: "People"),
        .executableTarget(
            name: "bench",
            cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])],
            linkerSettings: [
                .linkedLibrary("sodium"), .linkedLibrary("sqlite3"), .linkedLibrary("pam"),
            ]),
    ]
)
