#pragma once

// What every test of the suite starts from.

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_traits.h"
#include "endpoint.h"

namespace rocelane::contract {

// A context of its own on the device under test: ROCELANE_CONTRACT_DEVICE, or the first one there
// is. Events of one test do not reach another.
class VerbsTest : public testing::Test {
 protected:
  void SetUp() override;

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  const Port& port() const { return port_; }
  const DeviceTraits& traits() const { return traits_; }
  ibv_device_attr device_limits() const;

  std::unique_ptr<Endpoint> make_endpoint(const Shape& shape = {}) const;

  // The next event of this context, acknowledged; none in `patience`.
  std::optional<ibv_async_event> next_event(std::chrono::milliseconds patience) const;

 private:
  Context context_;
  Domain domain_;
  Port port_;
  DeviceTraits traits_;
};

// Two connected endpoints, with memory at each.
class PairTest : public VerbsTest {
 protected:
  static constexpr size_t kMemoryBytes = size_t{2} << 20;
  static constexpr uint8_t kUntouched = 0x5A;

  void SetUp() override;

  // Makes and connects them; tests that want other shapes or times call it again.
  void connect(const Shape& requester = {}, const Shape& responder = {}, const Timing& timing = {});

  // Made by SetUp and connect.
  std::unique_ptr<Endpoint> requester_;
  std::unique_ptr<Endpoint> responder_;
  std::unique_ptr<Memory> source_;  // of the requester, filled with a pattern
  std::unique_ptr<Memory> target_;  // of the responder, untouched
};

// Opens the device under test; fails the test and returns null when there is none. Also tells which
// GID to use: the first IPv4 one of RoCE v2.
Context open_device(Port& port);

std::vector<ibv_wc_status> statuses(const std::vector<ibv_wc>& completions);
std::vector<uint64_t> ids(const std::vector<ibv_wc>& completions);

constexpr std::chrono::milliseconds kQuietTime{60};  // how long "nothing happens" is watched
constexpr std::chrono::milliseconds kEventTime{
    5000};  // how long an event that must come is waited for

}  // namespace rocelane::contract
