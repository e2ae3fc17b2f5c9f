// SPDX-License-Identifier: Apache-2.0
// The bodies of Asio's functions, once for the whole program.
#include <boost/asio/impl/src.hpp>
