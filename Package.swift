// swift-tools-version: 6.2
import PackageDescription

// Every target: no warning passes, and every unsafe expression is marked and argued for. One view
// of glibc's headers in all C modules: CLinux needs _GNU_SOURCE, and a module that sees the same
// structs without it does not load beside it.
// Lifetimes: Swift 6.2, Debian's own, wants it said that a span handed in is the one that comes back.
let strict: [SwiftSetting] = [
    .strictMemorySafety(), .treatAllWarnings(as: .error), .unsafeFlags(["-Xcc", "-D_GNU_SOURCE"]),
    .enableExperimentalFeature("Lifetimes"),
]

// What programs of other packages may depend on: with a flag that SwiftPM calls unsafe, no versioned
// dependency would build. These import no C of ours, so they need no one view of glibc's headers.
let pure: [SwiftSetting] = [
    .strictMemorySafety(), .treatAllWarnings(as: .error), .enableExperimentalFeature("Lifetimes"),
]

// What serves is confined to one thread by its actor, and the tests run with the dynamic checks of
// overlapping access in place; a release spends a tenth of a request on them otherwise.
let serving: [SwiftSetting] =
    strict + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

// Tests flip each bit of what these write and read: optimised they take a fraction of the time, and
// the checks of overflow and of overlapping access stay.
let optimised: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]
let busy = serving + optimised

// The module lives in other people's processes: no runtime, no metadata, one object file.
// Debian's compiler builds Embedded code only when the triple is written out.
#if arch(arm64)
    let triple = "aarch64-unknown-linux-gnu"
#else
    let triple = "x86_64-unknown-linux-gnu"
#endif
let embedded: [SwiftSetting] =
    strict + [
        .enableExperimentalFeature("Embedded"),
        .unsafeFlags([
            "-wmo", "-target", triple, "-Xcc", "-fPIC", "-Xfrontend", "-function-sections",
        ]),
        // 64 KiB at most: specialised generics are several times that when they are tuned for speed.
        .unsafeFlags(["-Osize"], .when(configuration: .release)),
    ]

// The runtime goes into our executables: an AppVault machine needs no Swift installed.
let executableLinker: [LinkerSetting] = [
    .unsafeFlags(["-static-stdlib", "-Xlinker", "--gc-sections"]),
    .unsafeFlags(
        ["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"],
        .when(configuration: .release)),
]

let moduleLinker: [LinkerSetting] = [
    .linkedLibrary("pam"),
    .unsafeFlags([
        "-Xlinker", "--version-script=pam/appvault.map", "-Xlinker", "--gc-sections",
        "-Xlinker", "-soname=pam_appvault.so",
    ]),
    .unsafeFlags(
        [
            "-Xlinker", "-z", "-Xlinker", "defs", "-Xlinker", "-z", "-Xlinker", "relro",
            "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "noexecstack",
            "-Xlinker", "-s",
        ], .when(configuration: .release)),
]

let package = Package(
    name: "AppVault",
    products: [
        .library(name: "AppVault", targets: ["AppVault"]),
        .library(name: "AppVaultJSON", targets: ["AppVaultJSON"]),
        .library(name: "pam_appvault", type: .dynamic, targets: ["PamAppVault"]),
        .executable(name: "appvaultd", targets: ["appvaultd"]),
        .executable(name: "appvault", targets: ["appvault"]),
        .executable(name: "appvault-rules", targets: ["appvault-rules"]),
        .executable(name: "appvault-fetch", targets: ["appvault-fetch"]),
        .executable(name: "appvault-fingerprint", targets: ["appvault-fingerprint"]),
        .executable(name: "appvault-agent", targets: ["appvault-agent"]),
        .executable(name: "appvault-secrets", targets: ["appvault-secrets"]),
        .executable(name: "appvault-windows", targets: ["appvault-windows"]),
        .executable(name: "appvault-desktop", targets: ["appvault-desktop"]),
        .executable(name: "appvault-scan", targets: ["appvault-scan"]),
    ],
    targets: [
        .systemLibrary(name: "CPam"),
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CBus", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(
            name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(
            name: "CPwquality", pkgConfig: "pwquality", providers: [.apt(["libpwquality-dev"])]),
        .systemLibrary(
            name: "CFprint", pkgConfig: "libfprint-2", providers: [.apt(["libfprint-2-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CXcb", pkgConfig: "xcb-res",
            providers: [.apt(["libxcb1-dev", "libxcb-res0-dev"])]),
        .systemLibrary(
            name: "CAdw", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .systemLibrary(
            name: "CZbar", pkgConfig: "zbar",
            providers: [.apt(["libzbar-dev", "libpng-dev", "libjpeg-dev"])]),
        .systemLibrary(name: "CLinux"),

        .target(name: "Wire", swiftSettings: pure),
        .target(name: "AppVault", dependencies: ["Wire"], swiftSettings: pure),
        .target(name: "AppVaultJSON", dependencies: ["AppVault"], swiftSettings: pure),
        .target(name: "WireEmbedded", swiftSettings: embedded),
        .target(name: "Posix", dependencies: ["CLinux"], swiftSettings: serving),
        .target(name: "Bus", dependencies: ["CBus", "Posix"], swiftSettings: serving),
        .target(
            name: "SessionCrypto", dependencies: ["CGcrypt", "Posix"], swiftSettings: serving),
        .target(
            name: "SecretService", dependencies: ["SessionCrypto", "Wire", "Bus", "Posix"],
            swiftSettings: serving),
        .target(
            name: "ForeignStores", dependencies: ["SessionCrypto", "Posix"],
            swiftSettings: strict + optimised),
        .target(name: "Secrets", dependencies: ["CSodium", "Posix"], swiftSettings: busy),
        .target(name: "Policy", swiftSettings: strict),
        .target(name: "ToolTexts", swiftSettings: strict),
        .target(name: "PamStacks", swiftSettings: strict),
        .target(name: "DesktopEntries", swiftSettings: strict + optimised),
        .target(
            name: "Fleet", dependencies: ["Policy", "Secrets"], swiftSettings: busy),
        .target(
            name: "KeySlots", dependencies: ["Policy", "Secrets", "Posix"], swiftSettings: busy),
        .target(
            name: "SealedStore", dependencies: ["Secrets", "Posix", "CSQLite"],
            swiftSettings: busy),
        .target(
            name: "Words", dependencies: ["Fleet", "Policy", "Posix", "ToolTexts", "Wire"],
            swiftSettings: strict),
        .target(
            name: "StoreKeeping",
            dependencies: [
                "Words", "SealedStore", "KeySlots", "Policy", "Secrets", "Posix", "Wire",
            ],
            swiftSettings: serving),
        .target(
            name: "WorkerLinks",
            dependencies: [
                "StoreKeeping", "Words", "KeySlots", "Policy", "Secrets", "Posix", "Wire",
            ],
            swiftSettings: serving),
        .target(
            name: "VaultService",
            dependencies: [
                "Fleet", "WorkerLinks", "StoreKeeping", "Words", "SealedStore", "KeySlots",
                "Policy",
                "Secrets", "Posix", "Wire",
                "CSystemd",
            ],
            swiftSettings: serving),
        .target(
            name: "Client",
            dependencies: [
                "DesktopEntries", "Fleet", "ForeignStores", "PamStacks", "Policy", "Posix",
                "SessionCrypto", "Bus", "ToolTexts", "Wire", "Words", "CPam",
            ],
            swiftSettings: strict),
        .target(
            name: "Agent", dependencies: ["Client", "Wire", "Bus", "Posix"], swiftSettings: serving),
        .target(
            name: "Desktop",
            dependencies: ["Client", "PamStacks", "Posix", "ToolTexts", "Wire", "Words", "CAdw"],
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .target(
            name: "Manual", dependencies: ["Client", "VaultService", "Policy", "Posix", "Wire"],
            swiftSettings: strict),
        .executableTarget(
            name: "manpages", dependencies: ["Manual"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvaultd", dependencies: ["VaultService"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault", dependencies: ["Client"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-agent", dependencies: ["Agent"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-desktop", dependencies: ["Desktop"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-secrets", dependencies: ["SecretService"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-rules", dependencies: ["Posix", "Wire", "CPwquality"],
            swiftSettings: strict,
            // cracklib asks libc for the account that runs it; ours answers (NoAccount.swift).
            linkerSettings: executableLinker + [
                .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=getpwuid_r"])
            ]),
        .executableTarget(
            name: "appvault-fetch", dependencies: ["Posix", "Wire", "CCurl"],
            swiftSettings: strict, linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-fingerprint", dependencies: ["Posix", "Wire", "CFprint"],
            swiftSettings: strict, linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-windows", dependencies: ["Posix", "CXcb"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .executableTarget(
            name: "appvault-scan", dependencies: ["Posix", "CZbar"], swiftSettings: strict,
            linkerSettings: executableLinker),
        .target(
            name: "PamAppVault", dependencies: ["WireEmbedded", "CPam", "CLinux"],
            path: "pam/Sources",
            swiftSettings: embedded, linkerSettings: moduleLinker),

        .testTarget(name: "WireTests", dependencies: ["Wire", "Posix"], swiftSettings: strict),
        .testTarget(
            name: "AppVaultTests", dependencies: ["AppVault", "AppVaultJSON", "Wire"],
            swiftSettings: pure),
        .testTarget(name: "PosixTests", dependencies: ["Posix", "CLinux"], swiftSettings: strict),
        .testTarget(
            name: "BusTests", dependencies: ["Bus", "Posix", "CBus"], swiftSettings: strict),
        .testTarget(
            name: "SessionCryptoTests", dependencies: ["SessionCrypto", "Posix"],
            swiftSettings: strict),
        .testTarget(
            name: "SecretServiceTests", dependencies: ["SecretService", "Wire", "Bus", "Posix"],
            swiftSettings: strict),
        .testTarget(
            name: "AgentTests", dependencies: ["Agent", "Client", "Wire", "Bus"],
            swiftSettings: strict),
        .testTarget(
            name: "SecretsTests", dependencies: ["Secrets", "Posix"], swiftSettings: strict),
        .testTarget(
            name: "PamStacksTests", dependencies: ["PamStacks", "Posix"], swiftSettings: strict),
        .testTarget(
            name: "DesktopEntriesTests", dependencies: ["DesktopEntries"], swiftSettings: strict),
        .testTarget(
            name: "ForeignStoresTests", dependencies: ["ForeignStores", "SessionCrypto", "Posix"],
            swiftSettings: strict),
        .testTarget(name: "PolicyTests", dependencies: ["Policy", "Posix"], swiftSettings: strict),
        .testTarget(
            name: "FleetTests", dependencies: ["Fleet", "Policy", "Secrets", "CSodium"],
            swiftSettings: strict),
        .testTarget(
            name: "KeySlotsTests", dependencies: ["KeySlots", "Policy", "Secrets", "Posix"],
            swiftSettings: strict),
        .testTarget(
            name: "SealedStoreTests", dependencies: ["SealedStore", "Secrets", "Posix", "CSQLite"],
            swiftSettings: strict),
        .testTarget(
            name: "WordsTests", dependencies: ["Words", "Policy", "Posix", "ToolTexts", "Wire"],
            swiftSettings: strict),
        .testTarget(
            name: "StoreKeepingTests",
            dependencies: [
                "StoreKeeping", "SealedStore", "Words", "KeySlots", "Policy", "Posix", "Secrets",
                "Wire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "VaultServiceTests",
            dependencies: [
                "VaultService", "Fleet", "WorkerLinks", "StoreKeeping", "Words", "Posix", "Policy",
                "Secrets", "Wire", "CSodium",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                "Client", "DesktopEntries", "Fleet", "PamStacks", "Policy", "Posix", "ToolTexts",
                "Wire",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ManualTests",
            dependencies: ["Manual", "Client", "Policy", "VaultService", "Posix"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
