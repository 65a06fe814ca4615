#include "net/health/telemetry_page.h"

#include <utility>

namespace rocelane::telemetry {

std::unique_ptr<TelemetryPage> TelemetryPage::create(const PageSettings& settings,
                                                     const Surroundings& surroundings,
                                                     PageTime now) {
  remove_leftovers(settings.directory, surroundings.me, surroundings.start_ticks_of);
  auto page = hidden(surroundings, now);
  Result<PageFile> file = PageFile::create(settings.directory, surroundings.me);
  if (!file.ok()) {
    page->why_hidden_ = std::move(file).error();
    return page;
  }
  auto core =
      PageCore::in_file(*file, surroundings.me, settings.capacities, now, surroundings.reserve);
  if (!core.ok()) {
    page->why_hidden_ = std::move(core).error();
    return page;
  }
  page->core_ = *std::move(core);
  page->file_.emplace(*std::move(file));
  return page;
}

std::unique_ptr<TelemetryPage> TelemetryPage::hidden(const Surroundings& surroundings,
                                                     PageTime now) {
  return std::unique_ptr<TelemetryPage>(new TelemetryPage(PageCore::hidden(surroundings.me, now)));
}

void TelemetryPage::set_time(PageTime now) {
  PageHeader& header = core_->header();
  publish(header.wall_minus_monotonic_ns, now.wall_minus_monotonic_ns);
  publish(header.updated_monotonic_ns, now.monotonic_ns);
}

}  // namespace rocelane::telemetry
