// What a sender claims of the stripes it has written: the 32 bits with each, and how many bytes
// came. An input is the receiver's group, then completions.

#include <algorithm>
#include <map>

#include "fuzzer.h"
#include "net/transfer/receive_group.h"

namespace rocelane::fuzz {
namespace {

using net::kGroupedReceives;
using net::StripeImmediate;

struct Expected {
  uint32_t buffers;
  uint32_t epoch;
  std::array<uint32_t, kGroupedReceives> capacities;
};

struct Completion {
  uint32_t immediate;
  uint32_t bytes;
};

// The same counting in the plainest way: every stripe that was taken, by buffer and number.
class Ledger {
 public:
  explicit Ledger(const Expected& expected) : expected_(expected) {}

  bool may_take(const StripeImmediate& stripe, uint32_t bytes) const {
    if (stripe.epoch != expected_.epoch || stripe.buffer >= expected_.buffers ||
        stripe.stripe >= stripe.stripes) {
      return false;
    }
    const auto& taken = taken_[stripe.buffer];
    return (taken.empty() || stripes_[stripe.buffer] == stripe.stripes) &&
           !taken.contains(stripe.stripe) &&
           this->bytes(stripe.buffer) + bytes <= expected_.capacities[stripe.buffer];
  }

  void take(const StripeImmediate& stripe, uint32_t bytes) {
    stripes_[stripe.buffer] = stripe.stripes;
    taken_[stripe.buffer][stripe.stripe] = bytes;
  }

  uint64_t bytes(uint32_t buffer) const {
    uint64_t sum = 0;
    for (const auto& [stripe, bytes] : taken_[buffer]) {
      sum += bytes;
    }
    return sum;
  }

  bool is_finished() const {
    for (uint32_t i = 0; i < expected_.buffers; ++i) {
      if (taken_[i].empty() || taken_[i].size() != stripes_[i]) {
        return false;
      }
    }
    return true;
  }

 private:
  Expected expected_;
  std::array<std::map<uint32_t, uint32_t>, kGroupedReceives> taken_;
  std::array<uint32_t, kGroupedReceives> stripes_{};
};

void make_possible(Expected& expected) {
  expected.buffers = 1 + (expected.buffers - 1) % kGroupedReceives;
  expected.epoch %= net::kEpochs;
}

Input whole_group(uint32_t buffers, uint32_t stripes) {
  Expected expected{buffers, 5, {}};
  expected.capacities.fill(4096);
  Input input = bytes_of(expected);
  for (uint32_t buffer = 0; buffer < buffers; ++buffer) {
    for (uint32_t stripe = 0; stripe < stripes; ++stripe) {
      append(input, bytes_of(Completion{net::pack({9, buffer, stripe, stripes, 5}), 128}));
    }
  }
  return input;
}

void check(const net::ReceiveGroup& group, const Ledger& ledger, const Expected& expected) {
  require(group.is_finished() == ledger.is_finished(), "it ends with its last stripe");
  for (uint32_t i = 0; i < expected.buffers; ++i) {
    require(group.bytes(i) == ledger.bytes(i), "the bytes of the stripes that were taken");
    require(group.bytes(i) <= expected.capacities[i], "no more bytes than the buffer holds");
  }
}

}  // namespace

std::vector<Input> good_inputs() {
  return {whole_group(1, 1), whole_group(1, 16), whole_group(3, 4),
          whole_group(kGroupedReceives, 2)};
}

// Every stripe gets the epoch that is expected.
void mend(Input& input) {
  if (input.size() < sizeof(Expected)) {
    return;
  }
  Expected expected{};
  std::memcpy(&expected, input.data(), sizeof(expected));
  make_possible(expected);
  for (size_t at = sizeof(Expected); at + sizeof(Completion) <= input.size();
       at += sizeof(Completion)) {
    uint32_t bits = 0;
    std::memcpy(&bits, input.data() + at, sizeof(bits));
    StripeImmediate stripe = net::unpack_immediate(bits);
    stripe.epoch = expected.epoch;
    bits = net::pack(stripe);
    std::memcpy(input.data() + at, &bits, sizeof(bits));
  }
}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  using namespace rocelane::net;
  if (size < sizeof(Expected)) {
    return 0;
  }
  Expected expected{};
  std::memcpy(&expected, data, sizeof(expected));
  make_possible(expected);
  ReceiveGroup group;
  group.start(expected.buffers, expected.capacities, expected.epoch);
  Ledger ledger(expected);
  for (size_t at = sizeof(Expected); at + sizeof(Completion) <= size; at += sizeof(Completion)) {
    Completion completion{};
    std::memcpy(&completion, data + at, sizeof(completion));
    const StripeImmediate stripe = unpack_immediate(completion.immediate);
    require(pack(stripe) == completion.immediate, "32 bits are packed as they were unpacked");
    require(stripe.slot < kReceiveSlots && stripe.buffer < kGroupedReceives &&
                stripe.stripes >= 1 && stripe.stripes <= kMaxStripes && stripe.epoch < kEpochs,
            "fields within their ranges");
    const bool taken = group.add(stripe, completion.bytes).empty();
    require(taken == ledger.may_take(stripe, completion.bytes), "a stripe is taken if it fits");
    if (taken) {
      ledger.take(stripe, completion.bytes);
    }
    check(group, ledger, expected);
  }
  if (group.is_finished()) {
    note_accepted();
  }
  return 0;
}
