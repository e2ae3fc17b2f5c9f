// SPDX-License-Identifier: Apache-2.0
#include "net/dns_sd.h"

#include <unistd.h>

#include <map>

#include <fmt/core.h>

namespace rhizome::net {
namespace {

using stream::Task;

constexpr const char* kBus = "org.freedesktop.DBus";
constexpr const char* kAvahi = "org.freedesktop.Avahi";
constexpr const char* kServer = "org.freedesktop.Avahi.Server";
constexpr const char* kGroup = "org.freedesktop.Avahi.EntryGroup";
constexpr const char* kBrowser = "org.freedesktop.Avahi.ServiceBrowser";
constexpr const char* kType = "_rhizome._tcp";
constexpr std::int32_t kAny = -1;            ///< interface, protocol
constexpr std::uint32_t kOurOwn = 1u << 4u;  ///< AVAHI_LOOKUP_RESULT_OUR_OWN
constexpr std::size_t kTextsMax = 32;
constexpr seconds kAnswerTime{10};
constexpr seconds kResolveSpan{10};

/// What an answer belongs to.
enum class Asked : std::uint8_t { Nothing, Owner, NewGroup, NewBrowser, Resolve };

std::string hex_of(std::string_view text) { return to_hex(as_bytes(text)); }

}  // namespace

struct DnsSd::Inside {
    Inside(const stream::Strand& strand_in, DnsSdOptions options_in, std::function<void(const DnsSdFound&)> found_in)
        : strand(strand_in), options(std::move(options_in)), found(std::move(found_in)), ended(strand_in) {}

    const stream::Strand strand;
    const DnsSdOptions options;
    const std::function<void(const DnsSdFound&)> found;
    std::unique_ptr<stream::Stream> link{};
    std::uint32_t serial = 0;
    std::map<std::uint32_t, Asked> asked{};
    Bytes unsent{};
    stream::Deadline span_ends{};
    std::size_t resolved = 0;
    bool told_absent = false;
    bool stopped = false;
    stream::Event ended;

    void call(Asked what, std::string path, std::string interface, std::string member, std::string signature = "",
              const DbusWriter& body = {}) {
        DbusMessage message{.serial = ++serial,
                            .path = std::move(path),
                            .interface = std::move(interface),
                            .member = std::move(member),
                            .signature = std::move(signature),
                            .body = body.bytes()};
        message.destination = message.interface.starts_with(kAvahi) ? kAvahi : kBus;
        if (what != Asked::Nothing) asked[message.serial] = what;
        const Bytes bytes = encode(message);
        unsent.insert(unsent.end(), bytes.begin(), bytes.end());
    }
    void match(const std::string& rule) {
        call(Asked::Nothing, "/org/freedesktop/DBus", kBus, "AddMatch", "s", DbusWriter{}.text(rule));
    }
    void begin() {
        call(Asked::Nothing, "/org/freedesktop/DBus", kBus, "Hello");
        match(fmt::format("type='signal',sender='{}',member='NameOwnerChanged',arg0='{}'", kBus, kAvahi));
        match(fmt::format("type='signal',sender='{}',interface='{}',member='ItemNew'", kAvahi, kBrowser));
        call(Asked::Owner, "/org/freedesktop/DBus", kBus, "GetNameOwner", "s", DbusWriter{}.text(kAvahi));
    }
    /// The daemon is there: it knows nothing of us.
    void introduce() {
        told_absent = false;
        if (options.port != 0) call(Asked::NewGroup, "/", kServer, "EntryGroupNew");
        call(Asked::NewBrowser, "/", kServer, "ServiceBrowserNew", "iissu",
             DbusWriter{}.i32(kAny).i32(kAny).text(kType).text("local").u32(0));
    }
    void note_absent(std::string_view why) {
        if (!std::exchange(told_absent, true))
            options.log.debug("no Avahi daemon: nodes are not looked for over DNS-SD", {{"why", why}});
    }

    Result<void> take(const DbusMessage& message);
    Result<void> take_answer(Asked what, const DbusMessage& message);
    Result<void> take_item(const DbusMessage& message);
    Result<void> take_place(const DbusMessage& message);

    static Task<void> run(std::shared_ptr<Inside> self);
    static Task<Result<void>> speak(std::shared_ptr<Inside> self);
    static Task<Result<void>> greet(std::shared_ptr<Inside> self);
};

Result<void> DnsSd::Inside::take(const DbusMessage& message) {
    if (message.kind == DbusKind::Return || message.kind == DbusKind::Error) {
        const auto question = asked.extract(message.reply_to);
        return question.empty() ? Result<void>{ok()} : take_answer(question.mapped(), message);
    }
    if (message.kind != DbusKind::Signal) return ok();
    if (message.member == "ItemNew" && message.interface == kBrowser) return take_item(message);
    if (message.member == "NameOwnerChanged" && message.sender == kBus) {
        DbusReader in{message.body};
        TRY(const auto name, in.text());
        TRY(in.text());
        TRY(const auto owner, in.text());
        if (name == kAvahi && !owner.empty()) introduce();
        if (name == kAvahi && owner.empty()) note_absent("it has stopped");
    }
    return ok();
}

Result<void> DnsSd::Inside::take_answer(Asked what, const DbusMessage& message) {
    const bool failed = message.kind == DbusKind::Error;
    DbusReader in{message.body};
    if (failed) {
        if (what == Asked::Owner) {
            note_absent("it does not run");
        } else {
            options.log.debug("the Avahi daemon refuses", {{"why", message.error}});
        }
        return ok();
    }
    if (what == Asked::Owner) {
        introduce();
    } else if (what == Asked::NewGroup) {
        TRY(const auto path, in.text());
        DbusWriter service;
        service.i32(kAny).i32(kAny).u32(0).text(options.name).text(kType).text("").text("").u16(options.port);
        service.byte_arrays(options.texts);
        call(Asked::Nothing, path, kGroup, "AddService", "iiussssqaay", service);
        call(Asked::Nothing, path, kGroup, "Commit");
    } else if (what == Asked::Resolve) {
        return take_place(message);
    }
    return ok();
}

Result<void> DnsSd::Inside::take_item(const DbusMessage& message) {
    if (message.signature != "iisssu") return ok();
    DbusReader in{message.body};
    TRY(const auto interface, in.i32());
    TRY(const auto protocol, in.i32());
    TRY(const auto name, in.text());
    TRY(const auto type, in.text());
    TRY(const auto domain, in.text());
    TRY(const auto flags, in.u32());
    if (type != kType || (flags & kOurOwn) != 0) return ok();
    if (stream::passed(span_ends)) {
        span_ends = stream::after(kResolveSpan);
        resolved = 0;
    }
    if (++resolved > kResolvedMax) return ok();
    call(Asked::Resolve, "/", kServer, "ResolveService", "iisssiu",
         DbusWriter{}.i32(interface).i32(protocol).text(name).text(type).text(domain).i32(kAny).u32(0));
    return ok();
}

Result<void> DnsSd::Inside::take_place(const DbusMessage& message) {
    if (message.signature != "iissssisqaayu") return ok();
    DbusReader in{message.body};
    TRY(in.i32());
    TRY(in.i32());
    for (int i = 0; i < 4; ++i) TRY(in.text());  // name, type, domain, host
    TRY(in.i32());
    DnsSdFound place;
    TRY(place.address.host, in.text());
    TRY(place.address.port, in.u16());
    TRY(place.texts, in.byte_arrays(kTextsMax));
    // Link-local addresses of IPv6 mean something only together with the name of an interface.
    if (place.address.port != 0 && !place.address.host.starts_with("fe80:")) found(place);
    return ok();
}

/// SASL with what the kernel says of this process (EXTERNAL), then messages.
Task<Result<void>> DnsSd::Inside::greet(std::shared_ptr<Inside> self) {
    std::string hello(1, '\0');
    hello += fmt::format("AUTH EXTERNAL {}\r\n", hex_of(std::to_string(::geteuid())));
    CO_TRY(co_await stream::write_all(*self->link, as_bytes(hello)));
    std::string line;
    std::array<std::uint8_t, 1> byte{};
    while (!line.ends_with("\r\n")) {
        CO_TRY(co_await stream::read_exactly(*self->link, byte));
        line.push_back(static_cast<char>(byte[0]));
        if (line.size() > 256) co_return fail(ErrorKind::Invalid, "what answers is no system bus");
    }
    if (!line.starts_with("OK ")) co_return fail(ErrorKind::Denied, "the system bus does not let this node in");
    co_return co_await stream::write_all(*self->link, as_bytes("BEGIN\r\n"));
}

Task<Result<void>> DnsSd::Inside::speak(std::shared_ptr<Inside> self) {
    // Made here: GCC 12 destroys some temporaries of a co_await twice.
    stream::Address bus{.host = self->options.bus, .is_local = true};
    auto made = co_await stream::connect(bus, stream::after(kAnswerTime));
    if (!made) co_return Fail{made.error()};
    self->link = *std::move(made);
    if (self->stopped) co_return ok();
    self->link->set_read_deadline(stream::after(kAnswerTime));
    CO_TRY(co_await greet(self));
    self->link->set_read_deadline(stream::kNever);
    self->begin();
    while (!self->stopped) {
        const Bytes sending = std::exchange(self->unsent, {});
        if (!sending.empty()) CO_TRY(co_await stream::write_all(*self->link, sending));
        Bytes bytes(kDbusHeadBytes);
        CO_TRY(co_await stream::read_exactly(*self->link, bytes));
        const auto size = dbus_size(bytes);
        if (!size) co_return Fail{size.error()};
        bytes.resize(*size);
        CO_TRY(co_await stream::read_exactly(*self->link, std::span{bytes}.subspan(kDbusHeadBytes)));
        const auto message = decode_dbus(bytes);
        if (!message) co_return Fail{message.error()};
        if (self->stopped) break;
        // What strangers announce comes in it: a body that cannot be read, or has too much in it, ends nothing. Else
        // one of them could take the bus from every node of the network, again after each attempt.
        const auto taken = self->take(*message);
        if (!taken) self->options.log.debug("what the bus says is left out", {{"why", taken.error().message}});
    }
    co_return ok();
}

Task<void> DnsSd::Inside::run(std::shared_ptr<Inside> self) {
    while (!self->stopped) {
        const auto spoken = co_await speak(self);
        self->link.reset();
        self->asked.clear();
        self->unsent.clear();
        if (self->stopped) break;
        if (!spoken) self->note_absent(spoken.error().message);
        (void)co_await self->ended.wait_until(stream::after(self->options.again));
    }
}

DnsSd::DnsSd(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
DnsSd::~DnsSd() { stop(); }

std::unique_ptr<DnsSd> DnsSd::start(const stream::Strand& strand, DnsSdOptions options,
                                    std::function<void(const DnsSdFound&)> found) {
    auto inside = std::make_shared<Inside>(strand, std::move(options), std::move(found));
    stream::spawn(strand, Inside::run(inside));
    return std::unique_ptr<DnsSd>{new DnsSd{std::move(inside)}};
}

void DnsSd::stop() {
    if (!inside_) return;
    const auto in = std::move(inside_);
    stream::run_on(in->strand, [&] {
        in->stopped = true;
        if (in->link) in->link->close();
        in->ended.set();
    });
}

}  // namespace rhizome::net
