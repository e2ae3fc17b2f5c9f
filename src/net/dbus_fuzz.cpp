// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "net/dbus_message.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(dbus_fuzz) {
    const ByteView bytes{data, size};
    const auto message = net::decode_dbus(bytes);
    if (!message) return 0;
    // Fields that are not known are passed over, so other bytes may say the same; what they say is the same again.
    const auto again = net::decode_dbus(net::encode(*message));
    ensure(again.has_value() && *again == *message, "what was read can be written and read");
    net::DbusReader body{message->body};
    (void)body.i32();
    (void)body.text();
    (void)body.byte_arrays(32);
    (void)body.u16();
    (void)body.signature();
    return 0;
}
