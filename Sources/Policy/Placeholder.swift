enum PolicyPlaceholder {}
