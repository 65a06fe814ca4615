#include "peer_process.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoint.h"
#include "verbs_test.h"

namespace rocelane::contract {
namespace {

constexpr uint32_t kPeerSeed = 21;
constexpr size_t kPeerBytes = size_t{1} << 20;

class Peer {
 public:
  Answer obey(const Request& request) {
    switch (request.order) {
      case Order::kIntroduce:
        return introduce();
      case Order::kConnect:
        return {.status = endpoint_->connect(request.address)};
      case Order::kPostReceive:
        return {.status = endpoint_->receive_nothing(1)};
      case Order::kWaitForReceive:
        return wait_for_receive();
      case Order::kWrite:
        return write(request);
      case Order::kCheckPattern:
        return check(request);
      case Order::kQuit:
        break;
    }
    return {};
  }

 private:
  Answer introduce() {
    if (context_ == nullptr) {
      context_ = open_device(port_);
      domain_.reset(ibv_alloc_pd(context_.get()));
      memory_ = std::make_unique<Memory>(domain_.get(), kPeerBytes);
      source_ = std::make_unique<Memory>(domain_.get(), kPeerBytes);
      source_->fill(kPeerSeed);
    }
    endpoint_ = std::make_unique<Endpoint>(port_, domain_.get(), Shape{});
    return {.status = 0, .address = endpoint_->address(), .memory = memory_->remote()};
  }

  Answer wait_for_receive() {
    const auto received = endpoint_->received(1);
    if (received.empty()) {
      return {};
    }
    return {.status = static_cast<int32_t>(received[0].status),
            .bytes = received[0].byte_len,
            .immediate = ntohl(received[0].imm_data)};
  }

  Answer write(const Request& request) {
    const int error = endpoint_->write_with_immediate(2, source_->piece(0, request.bytes),
                                                      request.memory, request.immediate);
    const auto sent = endpoint_->sent(error == 0 ? 1 : 0);
    return {.status = sent.empty() ? -1 : static_cast<int32_t>(sent[0].status)};
  }

  Answer check(const Request& request) const {
    for (size_t i = 0; i < request.bytes; ++i) {
      if (memory_->data()[i] != pattern(request.seed, i)) {
        return {.status = 1, .bytes = static_cast<uint32_t>(i)};
      }
    }
    return {.status = 0};
  }

  Port port_;
  // Destroyed from the last to the first.
  Context context_;
  Domain domain_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Memory> source_;
  std::unique_ptr<Endpoint> endpoint_;
};

template <class Message>
bool send_message(int descriptor, const Message& message) {
  return send(descriptor, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message);
}

template <class Message>
bool receive_message(int descriptor, Message& message) {
  return recv(descriptor, &message, sizeof(message), MSG_WAITALL) == sizeof(message);
}

}  // namespace

int run_peer(int descriptor) {
  Peer peer;
  Request request;
  while (receive_message(descriptor, request) && request.order != Order::kQuit) {
    if (!send_message(descriptor, peer.obey(request))) {
      return 1;
    }
  }
  return 0;
}

PeerProcess::PeerProcess() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    ADD_FAILURE() << "no socket pair: " << std::strerror(errno);
    return;
  }
  const std::string argument = std::to_string(ends[1]);
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    execl("/proc/self/exe", "verbs_contract_test", kPeerArgument, argument.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  descriptor_ = ends[0];
  timeval patience{kPatience.count(), 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

PeerProcess::~PeerProcess() {
  if (descriptor_ >= 0) {
    close(descriptor_);  // which ends it
  }
  if (process_ > 0) {
    int status = 0;
    waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the peer process failed";
  }
}

std::optional<Answer> PeerProcess::ask(const Request& request) const {
  Answer answer;
  if (!send_message(descriptor_, request) || !receive_message(descriptor_, answer)) {
    return std::nullopt;
  }
  return answer;
}

void PeerProcess::kill_now() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace rocelane::contract
