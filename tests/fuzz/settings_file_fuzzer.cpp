// The text of a settings file.

#include <algorithm>

#include "base/settings.h"
#include "base/settings_example.h"
#include "fuzzer.h"

namespace rocelane::fuzz {
namespace {

JudgedSettings judged(const std::string& text) {
  return judge_settings({{"ROCELANE_CONFIG_FILE", "/etc/rocelane.toml"}},
                        [&](const std::string&) { return Result<std::string>(text); });
}

void check_sentences(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    require(!sentence.empty() && is_one_printable_line(sentence), "one line about each thing");
  }
}

bool within(int value, int least, int most) { return value >= least && value <= most; }

void check_bounds(const Settings& settings) {
  require(within(settings.lanes, 1, 128), "lanes");
  require(within(settings.traffic_class.value_or(0), 0, 255), "traffic class");
  require(within(settings.control_traffic_class.value_or(0), 0, 255), "control traffic class");
  require(within(settings.small_message_traffic_class.value_or(0), 0, 255), "small traffic class");
  require(settings.stripe_bytes > 0 && settings.stripe_bytes % 128 == 0, "stripes of 128 bytes");
  require(within(settings.ack_timeout, 0, 31) && within(settings.retry_count, 0, 7),
          "what fits a queue pair");
  require(settings.connect_timeout_ms > 0, "a deadline");
  require(within(settings.roce_version.value_or(1), 1, 2), "a version of RoCE");
  require(settings.telemetry_directory.starts_with('/'), "an absolute path");
}

}  // namespace

std::vector<Input> good_inputs() {
  std::string all = settings_example();
  // Every setting switched on: "#lanes = 4" becomes "lanes = 4".
  for (size_t at = all.find("\n#"); at != std::string::npos; at = all.find("\n#", at + 1)) {
    const char next = at + 2 < all.size() ? all[at + 2] : ' ';
    if (next >= 'a' && next <= 'z') {
      all.erase(at + 1, 1);
    }
  }
  return {
      bytes_of_text("lanes = 4\ntraffic_class = 0x6a  # DSCP 26\ndevices = \"=mlx5_0,mlx5_1\"\n"),
      bytes_of_text("telemetry = false\naddress_range = \"10.0.0.0/8\"\nmtu = 4096\n"
                    "relaxed_ordering = 'off'\ngid_index = \"auto\"\nack_timeout = 18\n"
                    "stripe_bytes = 8192\ntelemetry_dir = \"/run/rocelane\"\n"),
      bytes_of_text(all)};
}

void mend(Input& /*input*/) {}

}  // namespace rocelane::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rocelane;
  using namespace rocelane::fuzz;
  const JudgedSettings result = judged(std::string(as_text(data, size)));
  check_sentences(result.mistakes);
  check_sentences(result.settings.warnings);
  check_sentences(result.settings.notes);
  check_bounds(result.settings);
  if (result.mistakes.empty()) {
    note_accepted();
    check_sentences(start_report(result.settings));
  }
  return 0;
}
