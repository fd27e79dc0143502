enum SealedStorePlaceholder {}
