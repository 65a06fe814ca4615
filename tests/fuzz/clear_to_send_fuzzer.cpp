// A ring of clear-to-send records, into which a peer may write whatever it likes. An input is where
// the reader stands (cursor and sequence), and up to eight records from there on.

#include <algorithm>

#include "fuzzer.h"
#include "net/transfer/clear_to_send_ring.h"

namespace rocelane::fuzz {
namespace {

using net::ClearToSend;
using net::kClearToSendRecords;
using net::kGroupedReceives;

struct Reader {
  uint32_t cursor;
  uint32_t sequence;
};

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
  }
  return input;
}

size_t record_count(size_t input_bytes) {
  return std::min<size_t>((input_bytes - sizeof(Reader)) / sizeof(ClearToSend), kGroupedReceives);
}

// The one ring of this program, all zero between two inputs.
class Ring {
 public:
  explicit Ring(uint32_t cursor) : cursor_(cursor) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    for (uint32_t i = 0; i < kGroupedReceives; ++i) {
      at(i) = {};
    }
  }

  ClearToSend& at(uint32_t i) { return records()[(cursor_ + i) % kClearToSendRecords]; }
  static net::ClearToSendRing all() { return net::ClearToSendRing(records()); }

 private:
  static std::vector<ClearToSend>& records() {
    static std::vector<ClearToSend> ring(kClearToSendRecords);
    return ring;
  }
  uint32_t cursor_;
};

bool same(const ClearToSend& one, const ClearToSend& other) {
  return std::memcmp(&one, &other, sizeof(one)) == 0;
}

// What the reader has to find, said in another way: the first record tells how many there are, and
// all of them are in place.
uint32_t expected_count(const net::ClearToSendGroup& written, uint32_t sequence) {
  const uint32_t count = net::count_of(written[0]);
  if (count > kGroupedReceives) {
    return 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (written[i].place != net::pack_place(i, count) ||
        written[i].check != net::clear_to_send_check(written[i], sequence)) {
      return 0;
    }
  }
  return count;
}

void check_ring(Ring& ring, const net::ClearToSendGroup& written, uint32_t taken) {
  for (uint32_t i = 0; i < kGroupedReceives; ++i) {
    ClearToSend record = written[i];
    if (i < taken) {
      record.check = 0;
    }
    require(same(ring.at(i), record), "used records are marked, and nothing else is changed");
  }
}

}  // namespace

std::vector<Input> good_inputs() {
  return {group({0, 1}, 1), group({4, 7}, 2),
          group({kClearToSendRecords - 3, 64}, kGroupedReceives),
          group({0xfffffffe, 0xffffffff}, 4)};
}

void mend(Input& input) {
  if (input.size() < sizeof(Reader)) {
    return;
  }
  Reader reader{};
  std::memcpy(&reader, input.data(), sizeof(reader));
  for (size_t i = 0; i < record_count(input.size()); ++i) {
    uint8_t* place = input.data() + sizeof(Reader) + i * sizeof(ClearToSend);
    ClearToSend record{};
    std::memcpy(&record, place, sizeof(record));
    record.check = net::clear_to_send_check(record, reader.sequence);
    std::memcpy(place, &record, sizeof(record));
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
  std::memcpy(written.data(), data + sizeof(Reader), record_count(size) * sizeof(ClearToSend));
  Ring ring(reader.cursor);
  for (uint32_t i = 0; i < kGroupedReceives; ++i) {
    ring.at(i) = written[i];
  }
  ClearToSendGroup records{};
  const uint32_t count = take_group(Ring::all(), reader.cursor, reader.sequence, records);
  require(count == expected_count(written, reader.sequence), "a group is taken if it is whole");
  check_ring(ring, written, count);
  if (count == 0) {
    return 0;
  }
  note_accepted();
  for (uint32_t i = 0; i < count; ++i) {
    require(same(records[i], written[i]), "a record is handed on as it was written");
  }
  require(take_group(Ring::all(), reader.cursor, reader.sequence, records) == 0,
          "no group is taken twice");
  return 0;
}
