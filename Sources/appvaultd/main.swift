import VaultService

Daemon.run()
