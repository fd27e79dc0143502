// swift-tools-version: 6.2
import PackageDescription

// As a program of anybody's: the library by a version of its repository, and nothing else.
let package = Package(
    name: "notebook",
    dependencies: [
        .package(
            url: Context.environment["APPVAULT_REPOSITORY"] ?? "https://example.org/AppVault.git",
            from: "1.0.0")
    ],
    targets: [
        .executableTarget(
            name: "notebook",
            dependencies: [
                .product(name: "AppVault", package: "AppVault"),
                .product(name: "AppVaultJSON", package: "AppVault"),
            ])
    ]
)
