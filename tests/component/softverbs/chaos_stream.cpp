#include "chaos_stream.h"

#include <algorithm>
#include <cstring>

namespace rocelane::softverbs_test {
namespace {

constexpr uint8_t kSpoiled = 0xEE;

uint64_t word_of(uint64_t content, uint64_t place) {
  uint64_t value = content + place * 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value | 0x0101010101010101U;  // odd bytes: neither 0 nor kSpoiled
}

// Calls `each(address, expected bytes, count)` for the words of the area until it says false.
template <class Each>
bool for_words(const Area& area, uint64_t content, Each each) {
  for (uint32_t offset = 0; offset < area.bytes; offset += sizeof(uint64_t)) {
    const uint64_t word = word_of(content, offset);
    const size_t count = std::min<size_t>(sizeof word, area.bytes - offset);
    if (!each(area.at + offset, reinterpret_cast<const uint8_t*>(&word), count)) {
      return false;
    }
  }
  return true;
}

bool holds_part_of(const Area& area, uint64_t content) {
  return for_words(area, content, [](const uint8_t* at, const uint8_t* expected, size_t count) {
    return std::equal(at, at + count, expected,
                      [](uint8_t is, uint8_t should) { return is == should || is == 0; });
  });
}

bool all_are(const uint8_t* at, size_t count, uint8_t value) {
  return std::all_of(at, at + count, [value](uint8_t byte) { return byte == value; });
}

std::string name_of(const Request& request) {
  return "request " + std::to_string(request.id) + " (opcode " + std::to_string(request.opcode) +
         ", " + std::to_string(request.source.bytes) + " bytes)";
}

uint32_t opcode_of_completion(const Request& request) {
  return request.reads() ? IBV_WC_RDMA_READ : request.sends() ? IBV_WC_SEND : IBV_WC_RDMA_WRITE;
}

bool may_end_with(const Request& request, ibv_wc_status status, bool told_to_stop) {
  return (request.sin != IBV_WC_SUCCESS && status == request.sin) ||
         status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_RNR_RETRY_EXC_ERR ||
         (status == IBV_WC_WR_FLUSH_ERR && told_to_stop);
}

void require_guard(const Request& request, const Area& area) {
  require(area.at == nullptr || all_are(area.at + area.bytes, kGuardBytes, 0),
          "nothing is written behind the memory of " + name_of(request));
}

}  // namespace

void require(bool holds, const std::string& promise) {
  if (!holds) {
    throw Broken("not true: " + promise);
  }
}

void fill(const Area& area, uint64_t content) {
  for_words(area, content, [](uint8_t* at, const uint8_t* bytes, size_t count) {
    std::memcpy(at, bytes, count);
    return true;
  });
}

bool holds(const Area& area, uint64_t content) {
  return for_words(area, content, [](const uint8_t* at, const uint8_t* bytes, size_t count) {
    return std::memcmp(at, bytes, count) == 0;
  });
}

void spoil(const Area& area) {
  if (area.bytes > 0) {
    std::memset(area.at, kSpoiled, area.bytes);
  }
}

void Stream::post(const Request& request) {
  if (request.takes_receive()) {
    takers_.push_back(requests_.size());
  }
  requests_.push_back(request);
}

size_t Stream::unsignalled_tail() const {
  const auto last = std::find_if(requests_.rbegin(), requests_.rend(),
                                 [](const Request& request) { return request.signalled; });
  return static_cast<size_t>(last - requests_.rbegin());
}

void Stream::arrive(Request& request) {
  require(request.sin == IBV_WC_SUCCESS, name_of(request) + " is wrong and does not arrive");
  if (request.state != Request::State::kOpen) {
    return;
  }
  request.state = Request::State::kArrived;
  require(request.target.at == nullptr || holds(request.target, request.content),
          "the data of " + name_of(request) + " are in place when that is reported");
}

void Stream::succeed(Request& request) {
  require(request.sin == IBV_WC_SUCCESS, name_of(request) + " is wrong and does not succeed");
  if (request.takes_receive()) {
    ++takers_succeeded_;
  }
  if (!request.sends()) {
    arrive(request);
  }
  if (!request.keeps_source) {
    spoil(request.source);  // from now on it belongs to the program again
  }
}

void Stream::complete(const ibv_wc& completion) {
  require(!sender_left_, "a queue pair that was reset has no completions");
  while (true) {
    require(finished_ < requests_.size(), "completion " + std::to_string(completion.wr_id) +
                                              " is of a request that has not ended before");
    Request& request = requests_[finished_++];
    if (request.id == completion.wr_id) {
      break;
    }
    require(!failed_ && !request.signalled,
            "completions come in the order of posting: " + name_of(request) + " is next, not " +
                std::to_string(completion.wr_id));
    succeed(request);
  }
  Request& request = requests_[finished_ - 1];
  if (completion.status == IBV_WC_SUCCESS) {
    require(!failed_, name_of(request) + " is flushed, being behind one that failed");
    require(request.signalled, name_of(request) + " succeeds in silence");
    require(completion.opcode == static_cast<ibv_wc_opcode>(opcode_of_completion(request)),
            name_of(request) + " has the opcode of its completion");
    succeed(request);
    return;
  }
  const std::string status = ibv_wc_status_str(completion.status);
  require(!calm_ || told_to_stop_, name_of(request) + " succeeds on a calm day: " + status);
  require(failed_ ? completion.status == IBV_WC_WR_FLUSH_ERR
                  : may_end_with(request, completion.status, told_to_stop_),
          name_of(request) + " ends with a status that has a cause: " + status);
  failed_ = true;
  if (!request.keeps_source && !request.reads()) {
    spoil(request.source);
  }
}

void Stream::receive(const ibv_wc& completion, const Receive& receive) {
  require(!receiver_left_, "a queue pair that was reset receives nothing");
  require(received_ < takers_.size(),
          "receive " + std::to_string(completion.wr_id) + " completes for something that was sent");
  const size_t index = takers_[received_++];
  Request& request = requests_[index];
  const std::string name =
      "receive " + std::to_string(completion.wr_id) + " of " + name_of(request);
  require(completion.opcode == (request.sends() ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM),
          name + " has its opcode, not " + std::to_string(completion.opcode));
  require(completion.byte_len == request.source.bytes,
          name + " has its length, not " + std::to_string(completion.byte_len));
  require(((completion.wc_flags & IBV_WC_WITH_IMM) != 0) == request.has_immediate() &&
              (!request.has_immediate() || completion.imm_data == request.immediate),
          name + " has its immediate");
  for (; placed_ <= index; ++placed_) {
    if (!requests_[placed_].reads() && !requests_[placed_].sends()) {
      arrive(requests_[placed_]);
    }
  }
  if (request.sends()) {
    request.target = {receive.area.at, request.source.bytes};
    arrive(request);
    require(all_are(receive.area.at + request.source.bytes,
                    receive.area.bytes - request.source.bytes, 0),
            name + " is written no further than its length");
  }
}

void Stream::fence_sender() {
  for (size_t i = finished_; i < requests_.size(); ++i) {
    Request& request = requests_[i];
    if (request.reads() && request.state == Request::State::kOpen) {
      request.state = Request::State::kFenced;
      spoil(request.target);
    }
  }
  // A READ that failed may have brought a part of its data, and brings no more.
  for (size_t i = 0; i < finished_; ++i) {
    Request& request = requests_[i];
    if (request.reads() && request.state == Request::State::kOpen) {
      request.state = Request::State::kFenced;
      spoil(request.target);
    }
  }
}

void Stream::fence_receiver() {
  for (Request& request : requests_) {
    if (!request.reads() && !request.sends() && request.state == Request::State::kOpen) {
      request.state = Request::State::kFenced;
      spoil(request.target);
    }
  }
}

void Stream::check_now() const {
  require(receiver_left_ || takers_succeeded_ <= received_,
          "what succeeds at the sender has completed at the receiver");
}

void Stream::check_end() const {
  check_now();
  require(sender_left_ || finished_ == requests_.size(),
          "nothing waits for ever: " + std::to_string(unfinished()) + " requests from " +
              (finished_ < requests_.size() ? name_of(requests_[finished_]) : "none") + " on do");
  for (const Request& request : requests_) {
    require_guard(request, request.source);
    if (request.target.at == nullptr) {
      continue;
    }
    if (!request.sends()) {
      require_guard(request, request.target);
    }
    switch (request.state) {
      case Request::State::kArrived:
        require(holds(request.target, request.content),
                name_of(request) + " is still in place at the end");
        break;
      case Request::State::kFenced:
        require(all_are(request.target.at, request.target.bytes, kSpoiled),
                "nothing of " + name_of(request) + " is written after its queue pair has stopped");
        break;
      case Request::State::kOpen:
        require(holds_part_of(request.target, request.content),
                "what is written of " + name_of(request) + " is its own data");
        break;
    }
  }
}

}  // namespace rocelane::softverbs_test
