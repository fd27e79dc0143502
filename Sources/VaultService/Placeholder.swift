enum VaultServicePlaceholder {}
