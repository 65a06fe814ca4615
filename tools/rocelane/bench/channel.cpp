#include "bench/channel.h"

#include <array>

#include <nlohmann/json.hpp>
#include <sys/socket.h>

namespace rocelane::bench {

using Json = nlohmann::json;

bool Channel::send(const nlohmann::json& message) {
  const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t more =
        ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) {
      return false;
    }
    sent += static_cast<size_t>(more);
  }
  return true;
}

std::optional<nlohmann::json> Channel::receive() {
  std::array<char, 65'536> bytes{};
  size_t end = received_.find('\n');
  while (end == std::string::npos) {
    const ssize_t more = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (more <= 0) {
      return std::nullopt;
    }
    received_.append(bytes.data(), static_cast<size_t>(more));
    end = received_.find('\n');
  }
  nlohmann::json message = nlohmann::json::parse(received_.substr(0, end), nullptr, false);
  received_.erase(0, end + 1);
  return message.is_discarded() ? std::nullopt : std::optional(std::move(message));
}

}  // namespace rocelane::bench
