// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

/// Kubernetes' rules for the words that people choose. Each check gives its complaints, in Kubernetes' words and
/// without the word itself; none when all is well.
namespace rhizome::cluster {

using Complaints = std::vector<std::string>;

Complaints check_dns_label(std::string_view text);       ///< RFC 1123: `my-name`, at most 63 bytes
Complaints check_dns_subdomain(std::string_view text);   ///< RFC 1123: `example.com`, at most 253 bytes
Complaints check_dns_1035_label(std::string_view text);  ///< begins with a letter: services
Complaints check_qualified_name(std::string_view text);  ///< `example.com/MyName`: keys of labels and annotations
Complaints check_label_value(std::string_view text);
Complaints check_path_segment(std::string_view text);  ///< what may stand in a URL: roles and their bindings
Complaints check_config_key(std::string_view text);    ///< keys of ConfigMaps and Secrets
Complaints check_port_name(std::string_view text);     ///< `http`: at most 15 bytes, with a letter
Complaints check_environment_name(std::string_view text);
bool is_ip_address(std::string_view text);
bool is_cidr(std::string_view text);

/// `generateName` and five letters made of `seed` (the hash of the creating transaction, or of the request; at least 8
/// bytes): nothing is random, so every node names the object alike. The base is cut so that the name stays within 63
/// bytes.
std::string generated_name(std::string_view base, ByteView seed);

/// The first 16 bytes of a hash as a UUID of version 8 (RFC 9562: "custom", which a hash is): `metadata.uid`.
std::string uid_from(ByteView hash);
bool is_uid(std::string_view text);

}  // namespace rhizome::cluster
