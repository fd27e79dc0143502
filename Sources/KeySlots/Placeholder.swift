enum KeySlotsPlaceholder {}
