// libsystemd, imported by VaultService alone: socket activation, sd_notify, the journal, logind over sd-bus.
#ifndef APPVAULT_CSYSTEMD_H
#define APPVAULT_CSYSTEMD_H

#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#endif
