#include "net/health/page_check.h"

#include <cstring>

#include <fmt/format.h>

namespace rocelane::telemetry {
namespace {

// Far beyond what a writer makes; bounds a reader's work.
constexpr uint32_t kLongestSlot = 65536;

Error refused(const std::string& path, std::string_view why) {
  return {ErrorCode::kInvalidArgument,
          fmt::format("{} is no readable telemetry page: {}.", path, why)};
}

bool lies_inside(const TableDescription& table, uint64_t header_bytes, uint64_t page_bytes,
                 uint32_t least_slot_bytes) {
  if (table.capacity > kMostSlots || table.slot_bytes > kLongestSlot ||
      table.slot_bytes < least_slot_bytes || table.slot_bytes % sizeof(uint64_t) != 0 ||
      table.offset % sizeof(uint64_t) != 0) {
    return false;
  }
  return table.offset >= header_bytes && table.offset <= page_bytes &&
         uint64_t{table.capacity} * table.slot_bytes <= page_bytes - table.offset;
}

}  // namespace

Status check_header(const PageHeader& header, uint64_t file_bytes, const std::string& path) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return refused(path, "it does not begin with the mark of one, or its owner is still at it");
  }
  if (header.version == 0 || header.oldest_reader > kVersion) {
    return refused(path,
                   fmt::format("its layout has version {} and needs a reader of version {} or "
                               "newer, this one has {}; use the tools of the newer Rocelane",
                               header.version, header.oldest_reader, kVersion));
  }
  if (header.page_bytes > file_bytes || header.header_bytes < sizeof(PageHeader) ||
      header.header_bytes > header.page_bytes || header.table_count < 3) {
    return refused(path, fmt::format("the file has {} bytes, its header speaks of {}", file_bytes,
                                     header.page_bytes));
  }
  if (header.latency_first_power != kLatencyFirstPower || header.latency_powers != kLatencyPowers ||
      header.latency_steps != kLatencySteps) {
    return refused(path, "its latency histograms have another shape");
  }
  const auto inside = [&](const TableDescription& table, size_t least_slot_bytes) {
    return lies_inside(table, header.header_bytes, header.page_bytes,
                       static_cast<uint32_t>(least_slot_bytes));
  };
  if (!inside(header.ports, sizeof(PortSlot)) ||
      !inside(header.connections, sizeof(ConnectionSlot)) ||
      !inside(header.lanes, sizeof(LaneSlot))) {
    return refused(path, "its tables do not lie inside it");
  }
  return {};
}

}  // namespace rocelane::telemetry
