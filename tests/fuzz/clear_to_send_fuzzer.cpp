// A ring of clear-to-send records, into which a peer may write whatever it likes. An input is where
// the reader stands (cursor and sequence), whether keys follow each record, and up to eight places
// from there on: records, or records and keys.

#include <algorithm>

#include "fuzzer.h"
#include "net/transfer/clear_to_send_ring.h"

namespace rocelane::fuzz {
namespace {

using net::ClearToSend;
using net::ClearToSendKeys;
using net::kClearToSendRecords;
using net::kGroupedReceives;

struct Reader {
  uint32_t cursor;
  uint32_t sequence;
  uint32_t with_keys;  // its lowest bit
};

bool has_keys(const Reader& reader) { return (reader.with_keys & 1U) != 0; }

size_t place_bytes(const Reader& reader) {
  return net::clear_to_send_place_bytes(has_keys(reader));
}

Input group(const Reader& reader, uint32_t count) {
  Input input = bytes_of(reader);
  for (uint32_t i = 0; i < count; ++i) {
    ClearToSend record{};
    record.address = 0x7f0012345678 + i * 4096;
    record.key = 0x1234;
    record.bytes = 4096;
    record.tag = i;
    record.place = net::pack_place(i, count);
    record.flags = net::kNoCompletion;
    record.check = net::clear_to_send_check(record, reader.sequence);
    append(input, bytes_of(record));
    if (has_keys(reader)) {
      ClearToSendKeys keys{{0x2345, 0x3456}, 0};
      keys.check = net::clear_to_send_check(keys, record.check);
      append(input, bytes_of(keys));
    }
  }
  return input;
}

size_t place_count(const Reader& reader, size_t input_bytes) {
  return std::min<size_t>((input_bytes - sizeof(Reader)) / place_bytes(reader), kGroupedReceives);
}

// The one ring of this program, all zero between two inputs.
class Ring {
 public:
  explicit Ring(const Reader& reader)
      : cursor_(reader.cursor), ring_{memory().data(), has_keys(reader) ? 1U : 0U} {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (uint32_t i = 0; i < kGroupedReceives; ++i) {
      at(i) = {};
      if (ring_.with_keys != 0) {
        keys_at(i) = {};
      }
    }
  }

  ClearToSend& at(uint32_t i) { return ring_.record(cursor_ + i); }
  ClearToSendKeys& keys_at(uint32_t i) { return ring_.keys(cursor_ + i); }
  const net::ClearToSendRing& all() const { return ring_; }

 private:
  static std::vector<ClearToSend>& memory() {
    static std::vector<ClearToSend> ring(size_t{2} * kClearToSendRecords);
    return ring;
  }
  uint32_t cursor_;
  net::ClearToSendRing ring_;
};

template <class Record>
bool same(const Record& one, const Record& other) {
  return std::memcmp(&one, &other, sizeof(one)) == 0;
}

// What the reader has to find, said in another way: the first record tells how many there are, and
// all of them are in place.
uint32_t expected_count(const net::ClearToSendGroup& written, const Reader& reader) {
  const uint32_t count = net::count_of(written.records[0]);
  if (count > kGroupedReceives) {
    return 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const ClearToSend& record = written.records[i];
    const ClearToSendKeys& keys = written.keys[i];
    if (record.place != net::pack_place(i, count) ||
        record.check != net::clear_to_send_check(record, reader.sequence) ||
        (has_keys(reader) && keys.check != net::clear_to_send_check(keys, record.check))) {
      return 0;
    }
  }
  return count;
}

void check_ring(Ring& ring, const net::ClearToSendGroup& written, uint32_t taken) {
  for (uint32_t i = 0; i < kGroupedReceives; ++i) {
    ClearToSend record = written.records[i];
    if (i < taken) {
      record.check = 0;
    }
    require(same(ring.at(i), record), "used records are marked, and nothing else is changed");
    require(ring.all().with_keys == 0 || same(ring.keys_at(i), written.keys[i]),
            "keys are left as they are");
  }
}

}  // namespace

std::vector<Input> good_inputs() {
  return {group({0, 1, 0}, 1),
          group({4, 7, 0}, 2),
          group({kClearToSendRecords - 3, 64, 0}, kGroupedReceives),
          group({0xfffffffe, 0xffffffff, 0}, 4),
          group({5, 9, 1}, 1),
          group({kClearToSendRecords - 2, 70, 1}, 5)};
}

void mend(Input& input) {
  if (input.size() < sizeof(Reader)) {
    return;
  }
  Reader reader{};
  std::memcpy(&reader, input.data(), sizeof(reader));
  for (size_t i = 0; i < place_count(reader, input.size()); ++i) {
    uint8_t* place = input.data() + sizeof(Reader) + i * place_bytes(reader);
    ClearToSend record{};
    std::memcpy(&record, place, sizeof(record));
    record.check = net::clear_to_send_check(record, reader.sequence);
    std::memcpy(place, &record, sizeof(record));
    if (has_keys(reader)) {
      ClearToSendKeys keys{};
      std::memcpy(&keys, place + sizeof(record), sizeof(keys));
      keys.check = net::clear_to_send_check(keys, record.check);
      std::memcpy(place + sizeof(record), &keys, sizeof(keys));
    }
  }
}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane::fuzz;
  using namespace rocelane::net;
  if (size < sizeof(Reader)) {
    return 0;
  }
  Reader reader{};
  std::memcpy(&reader, data, sizeof(reader));
  ClearToSendGroup written{};
  for (size_t i = 0; i < place_count(reader, size); ++i) {
    const uint8_t* place = data + sizeof(Reader) + i * place_bytes(reader);
    std::memcpy(&written.records[i], place, sizeof(ClearToSend));
    if (has_keys(reader)) {
      std::memcpy(&written.keys[i], place + sizeof(ClearToSend), sizeof(ClearToSendKeys));
    }
  }
  Ring ring(reader);
  for (uint32_t i = 0; i < kGroupedReceives; ++i) {
    ring.at(i) = written.records[i];
    if (has_keys(reader)) {
      ring.keys_at(i) = written.keys[i];
    }
  }
  ClearToSendGroup group{};
  const uint32_t count = take_group(ring.all(), reader.cursor, reader.sequence, group);
  require(count == expected_count(written, reader), "a group is taken if it is whole");
  check_ring(ring, written, count);
  if (count == 0) {
    return 0;
  }
  note_accepted();
  for (uint32_t i = 0; i < count; ++i) {
    require(same(group.records[i], written.records[i]), "a record is handed on as it was written");
    require(!has_keys(reader) || same(group.keys[i], written.keys[i]),
            "keys are handed on as they were written");
  }
  require(take_group(ring.all(), reader.cursor, reader.sequence, group) == 0,
          "no group is taken twice");
  return 0;
}
