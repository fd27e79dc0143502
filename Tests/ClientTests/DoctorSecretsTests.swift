import Posix
import Testing
import Wire

@testable import Client

struct DoctorSecretsTests {
    static let ours = "/usr/libexec/appvault/appvault-secrets"
    static let gnome = "/usr/bin/gnome-keyring-daemon --foreground --components=pkcs11,secrets"

    static func person() -> FakeMachine {
        var fake = FakeMachine()
        fake.uid = 1000
        return fake
    }

    static func told(_ fake: FakeMachine, _ daemon: Doctor.Daemon = FakeMachine.daemon) -> [Finding]
    {
        fake.findings(daemon).filter { $0.link == .secrets }
    }

    @Test("where our program has the name, and nobody waits for it, all is well")
    func well() {
        #expect(Self.told(Self.person()).map(\.state) == [.ok])
    }

    @Test("without the package it is told, and nothing else is looked at")
    func notInstalled() {
        var fake = Self.person()
        fake.files[Self.ours] = nil
        fake.onTheBus(Self.gnome)
        #expect(Self.told(fake).map(\.state) == [.unseen])
    }

    @Test("root has no session, and is told where to look")
    func root() {
        var fake = FakeMachine()
        fake.desktop.owners = .noBus
        let told = Self.told(fake)
        #expect(told.map(\.state) == [.unseen])
        #expect(told.first?.mend.contains("without sudo") == true)
    }

    @Test("nobody has the name: the unit is to be started, and its state is told")
    func nobody() {
        var fake = Self.person()
        fake.onTheBus()
        fake.desktop.unit = "failed"
        let told = Self.told(fake)
        #expect(told.map(\.state) == [.broken])
        #expect(told[0].text.contains("is failed"))
        #expect(told[0].mend.hasPrefix("`systemctl --user start appvault-secrets.service`"))
    }

    @Test("gnome-keyring has the name: its unit is restarted, without a unit it is ended")
    func gnomeKeyring() {
        var fake = Self.person()
        fake.onTheBus(Self.gnome, Self.ours)
        var told = Self.told(fake)
        #expect(told.map(\.state) == [.broken])
        #expect(told[0].text.hasPrefix("gnome-keyring-daemon, process 3000, has "))
        #expect(told[0].mend == "`kill 3000`")
        fake.files["/proc/3000/cgroup"] =
            "0::/user.slice/user@1000.service/app.slice/gnome-keyring-daemon.service\n"
        told = Self.told(fake)
        #expect(told[0].mend == "`systemctl --user restart gnome-keyring-daemon.service`")
        // Ours does not even wait for it.
        fake.onTheBus(Self.gnome)
        #expect(
            Self.told(fake)[0].mend
                == "`systemctl --user restart gnome-keyring-daemon.service`, "
                + "then `systemctl --user start appvault-secrets.service`")
    }

    @Test("who waits for the name behind ours is a warning each")
    func waits() {
        var fake = Self.person()
        fake.onTheBus(Self.ours, Self.gnome, "/usr/bin/keepassxc")
        let told = Self.told(fake)
        #expect(told.map(\.state) == [.ok, .warning, .warning])
        #expect(told[1].mend == "`kill 3001`")
        #expect(told[2].mend.hasPrefix("`kill 3002`, and in its settings"))
    }

    @Test("KWallet's settings are to be mended before it is ended, if they are not ours")
    func kwallet() {
        var fake = Self.person()
        fake.onTheBus("/usr/bin/kwalletd6", Self.ours)
        #expect(Self.told(fake)[0].mend.hasPrefix("add what /usr/share/appvault/kwalletrc says"))
        fake.files["/etc/xdg/kwalletrc"] = "[org.freedesktop.secrets]\napiEnabled=false\n"
        #expect(Self.told(fake)[0].mend == "`kill 3000`")
    }

    @Test(
        "another file that D-Bus takes first is named, with what removes it",
        arguments: [
            ("/srv/alice/.local/share", "`rm "), ("/usr/local/share", "`rm "),
            ("/usr/share", "`apt install --reinstall appvault-secret-service`"),
        ])
    func serviceFile(folder: String, mend: String) {
        var fake = Self.person()
        let path = "\(folder)/dbus-1/services/org.freedesktop.secrets.service"
        fake.files[path] =
            "[D-BUS Service]\nExec=/usr/bin/gnome-keyring-daemon --start --foreground\n"
        let told = Self.told(fake)
        #expect(told.map(\.state) == [.ok, .warning])
        #expect(told[1].text.contains(path))
        #expect(told[1].text.contains(" start /usr/bin/gnome-keyring-daemon for "))
        #expect(told[1].mend.hasPrefix(mend))
    }

    @Test("without any file D-Bus starts nothing")
    func noServiceFile() {
        var fake = Self.person()
        fake.files["/usr/share/dbus-1/services/org.freedesktop.secrets.service"] = nil
        #expect(Self.told(fake).map(\.state) == [.ok, .warning])
    }

    // MARK: the import

    /// A keyring of this many items, as gnome-keyring writes it.
    static func keyring(_ count: UInt8) -> String {
        let bytes =
            Array("GnomeKeyring\n\r\0\n".utf8) + [0, 0, 0, 0] + [0, 0, 0, 5] + Array("login".utf8)
            + [UInt8](repeating: 0, count: 52) + [0, 0, 0, count, 1, 2, 3]
        return String(decoding: bytes, as: UTF8.self)
    }

    static let keyrings = "/srv/alice/.local/share/keyrings"

    static func daemon(_ change: (inout StoreList.Entry) -> Void) -> Doctor.Daemon {
        var daemon = FakeMachine.daemon
        var entry = FakeMachine.store("secrets", of: "alice", 1000, .follows)
        entry.parent = Array("default".utf8)
        change(&entry)
        daemon.stores?.append(Doctor.KnownStore(entry: entry))
        return daemon
    }

    @Test("what GNOME's keyrings still have is offered until something is in the store")
    func offer() {
        var fake = Self.person()
        fake.files[Self.keyrings + "/login.keyring"] = Self.keyring(3)
        fake.files[Self.keyrings + "/work.keyring"] =
            "[keyring]\ndisplay-name=work\n\n[1]\nitem-type=0\n\n[1:attribute0]\nname=a\n\n[12]\n"
        fake.files[Self.keyrings + "/user.keystore"] = "gibberish"
        let told = Self.told(fake)
        #expect(told.map(\.state) == [.ok, .warning])
        #expect(told[1].text.hasSuffix(": 5"))
        #expect(told[1].mend.hasPrefix("`appvault import keyring`"))
        let isEmpty = Self.daemon { $0.lock = .unlocked }
        #expect(Self.told(fake, isEmpty).count == 2)
        let hasSome = Self.daemon {
            $0.lock = .unlocked
            $0.records = 1
        }
        #expect(Self.told(fake, hasSome).count == 1)
        // Nobody says what a locked one has.
        #expect(Self.told(fake, Self.daemon { $0.lock = .locked }).count == 1)
    }

    @Test(
        "an empty keyring is no reason, nor is another person's store, nor a daemon that is silent")
    func noOffer() {
        var fake = Self.person()
        fake.files[Self.keyrings + "/login.keyring"] = Self.keyring(0)
        #expect(Self.told(fake).count == 1)
        fake.files[Self.keyrings + "/login.keyring"] = Self.keyring(1)
        let others = Self.daemon {
            $0.owner = Subject(name: Array("bob".utf8), uid: 1001)
            $0.lock = .unlocked
            $0.records = 9
        }
        #expect(Self.told(fake, others).count == 2)
        var silent = FakeMachine.daemon
        silent.stores = nil
        #expect(Self.told(fake, silent).count == 1)
    }

    @Test("somebody without a store is told, as programs have no place for their secrets then")
    func noStore() {
        var none = FakeMachine.daemon
        none.stores = []
        let told = Self.told(Self.person(), none)
        #expect(told.map(\.state) == [.ok, .warning])
        #expect(told[1].mend == "`appvault create`")
    }

    @Test("a keyring's file that is cut short, or has no name, is read as far as it goes")
    func keyringFile() {
        let whole = Array(Self.keyring(7).utf8)
        #expect(KeyringCount.items(whole) == 7)
        for length in 0..<(whole.count - 3) {
            #expect(KeyringCount.items(Array(whole.prefix(length))) == 0)
        }
        var nameless = Array("GnomeKeyring\n\r\0\n".utf8) + [0, 0, 0, 0, 255, 255, 255, 255]
        nameless += [UInt8](repeating: 0, count: 52) + [0, 0, 1, 0]
        #expect(KeyringCount.items(nameless) == 256)
        // A length that lies leads nowhere.
        nameless[20] = 0x7F
        #expect(KeyringCount.items(nameless) == 0)
    }
}
