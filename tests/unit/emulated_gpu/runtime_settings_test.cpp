#include <map>
#include <string>

#include <gtest/gtest.h>

#include "settings.h"

namespace rocelane::lab {
namespace {

Result<Settings> read(const std::map<std::string, std::string>& variables) {
  return read_settings([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(LabSettings, WithoutVariablesThereIsOneGpu) {
  const auto settings = read({});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->gpu_count, 1);
  EXPECT_EQ(pci_bus_id(*settings, 0), "0000:10:00.0");
}

TEST(LabSettings, TheBusBaseIsHexadecimalWithOrWithoutPrefix) {
  for (const char* text : {"0x2f", "2f"}) {
    const auto settings = read({{"ROCELANE_LAB_GPUS", "4"}, {"ROCELANE_LAB_GPU_BUS_BASE", text}});
    ASSERT_TRUE(settings.ok());
    EXPECT_EQ(pci_bus_id(*settings, 3), "0000:32:00.0");
  }
}

TEST(LabSettings, ABadNumberIsNamedTogetherWithItsBounds) {
  for (const char* text : {"0", "33", "two", "2x", "-1"}) {
    const auto settings = read({{"ROCELANE_LAB_GPUS", text}});
    ASSERT_FALSE(settings.ok()) << text;
    EXPECT_EQ(settings.error().what,
              "ROCELANE_LAB_GPUS=" + std::string(text) + " is not a decimal number from 1 to 32");
  }
}

TEST(LabSettings, AllGpusMustHaveABus) {
  EXPECT_TRUE(read({{"ROCELANE_LAB_GPUS", "2"}, {"ROCELANE_LAB_GPU_BUS_BASE", "fe"}}).ok());
  EXPECT_FALSE(read({{"ROCELANE_LAB_GPUS", "2"}, {"ROCELANE_LAB_GPU_BUS_BASE", "ff"}}).ok());
}

TEST(LabSettings, GpuMemoryIsGivenInMebibytes) {
  const auto settings = read({{"ROCELANE_LAB_GPU_MEMORY_MIB", "512"}});
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->gpu_memory_bytes, uint64_t{512} << 20);
}

}  // namespace
}  // namespace rocelane::lab
