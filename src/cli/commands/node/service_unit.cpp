// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/service_unit.h"

#include <fmt/core.h>

namespace rhizome::cli {

bool can_stand_in_unit(std::string_view path) {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+@,=:";
    return path.starts_with('/') && path.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string service_unit(std::string_view program, std::string_view data) {
    return fmt::format(R"([Unit]
Description=Rhizome cluster node
Documentation=man:rhizome-up(1)
Wants=network-online.target
After=network-online.target time-sync.target
# Until 'rhizome init' or 'rhizome join' has made a chain: a machine does not found a cluster by being switched on.
ConditionPathExists={1}/format

[Service]
Type=notify
NotifyAccess=main
ExecStart={0} up --data {1}
Restart=on-failure
RestartSec=2
# Opening a long chain after a power failure takes its time; READY=1 is said when it is done.
TimeoutStartSec=30min
TimeoutStopSec=90
# Fed only while the node's own strand answers.
WatchdogSec=60
# What the node starts for pods is its own cgroup's business and outlives a restart of the node.
KillMode=process
Delegate=yes
LimitNOFILE=65536
UMask=0077

# The node writes to its data directory and nowhere else.
ProtectSystem=strict
ReadWritePaths={1}
ProtectHome=read-only
PrivateTmp=yes
NoNewPrivileges=yes
CapabilityBoundingSet=
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
)",
                       program, data);
}

}  // namespace rhizome::cli
