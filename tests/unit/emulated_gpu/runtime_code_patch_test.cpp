#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "code_patch.h"
#include "jump.h"

namespace rocelane::lab {
namespace {

TEST(Jump, ANearJumpCountsFromItsEnd) {
  const auto forward = encode_near_jump(0x1000, 0x2000);
  ASSERT_TRUE(forward);
  EXPECT_EQ(*forward, (std::array<uint8_t, 5>{0xe9, 0xfb, 0x0f, 0x00, 0x00}));
  const auto backward = encode_near_jump(0x2000, 0x1000);
  ASSERT_TRUE(backward);
  EXPECT_EQ(*backward, (std::array<uint8_t, 5>{0xe9, 0xfb, 0xef, 0xff, 0xff}));
}

TEST(Jump, ANearJumpReachesTwoGibibytesAndNoFurther) {
  constexpr uintptr_t kFrom = uintptr_t{1} << 40;
  constexpr uintptr_t kReach = uintptr_t{1} << 31;
  EXPECT_TRUE(encode_near_jump(kFrom, kFrom + kNearJumpBytes + kReach - 1));
  EXPECT_FALSE(encode_near_jump(kFrom, kFrom + kNearJumpBytes + kReach));
  EXPECT_TRUE(encode_near_jump(kFrom, kFrom + kNearJumpBytes - kReach));
  EXPECT_FALSE(encode_near_jump(kFrom, kFrom + kNearJumpBytes - kReach - 1));
}

TEST(Jump, AFarJumpCarriesTheWholeAddress) {
  EXPECT_EQ(encode_far_jump(0x1122334455667788),
            (std::array<uint8_t, 14>{0xff, 0x25, 0, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33,
                                     0x22, 0x11}));
}

// A page of code of our own making: each function returns its first argument plus one.
class CodePage {
 public:
  static constexpr std::array<uint8_t, 8> kPlusOne{0x48, 0x8d, 0x47, 0x01,  // lea rax, [rdi+1]
                                                   0xc3, 0x90, 0x90, 0x90};
  using Function = uintptr_t (*)(uintptr_t);

  CodePage() {
    start_ = static_cast<uint8_t*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t at = 0; at < kBytes; at += kPlusOne.size()) {
      std::memcpy(start_ + at, kPlusOne.data(), kPlusOne.size());
    }
    ::mprotect(start_, kBytes, PROT_READ | PROT_EXEC);
  }
  ~CodePage() { ::munmap(start_, kBytes); }
  CodePage(const CodePage&) = delete;
  CodePage& operator=(const CodePage&) = delete;

  uintptr_t address(size_t index) const {
    return reinterpret_cast<uintptr_t>(start_) + index * kPlusOne.size();
  }
  uintptr_t call(size_t index, uintptr_t argument) const {
    return reinterpret_cast<Function>(address(index))(argument);
  }
  Replacement replacement(size_t index, const void* continue_at, const void* argument) const {
    return {address(index), kPlusOne.size(), "plus_one", continue_at, argument};
  }

 private:
  static constexpr size_t kBytes = 4096;
  uint8_t* start_;
};

uintptr_t times_ten(uintptr_t value) { return value * 10; }
const void* times_ten_address() { return reinterpret_cast<const void*>(&times_ten); }

// "r-xp" as /proc/self/maps shows it.
std::string protection_of(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    uintptr_t first = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::string protection;
    words >> std::hex >> first >> dash >> end >> protection;
    if (address >= first && address < end) {
      return protection;
    }
  }
  return "unmapped";
}

TEST(CodePatch, APatchedFunctionGoesOnInItsReplacement) {
  const CodePage page;
  ASSERT_EQ(page.call(1, 4), 5U);
  const Status done = apply_patches({page.replacement(1, times_ten_address(), nullptr)});
  ASSERT_TRUE(done.ok()) << done.error().what;
  EXPECT_EQ(page.call(1, 4), 40U);
}

TEST(CodePatch, TheNeighboursOfAPatchedFunctionStayWhatTheyWere) {
  const CodePage page;
  ASSERT_TRUE(apply_patches({page.replacement(1, times_ten_address(), nullptr)}).ok());
  EXPECT_EQ(page.call(0, 4), 5U);
  EXPECT_EQ(page.call(2, 4), 5U);
}

TEST(CodePatch, AReplacementCanBeGivenItsOwnArgument) {
  const CodePage page;
  ASSERT_TRUE(apply_patches({page.replacement(0, times_ten_address(),
                                              reinterpret_cast<const void*>(uintptr_t{7}))})
                  .ok());
  EXPECT_EQ(page.call(0, 4), 70U);
}

TEST(CodePatch, PatchedCodeIsNotWritableAfterwards) {
  const CodePage page;
  ASSERT_TRUE(apply_patches({page.replacement(3, times_ten_address(), nullptr)}).ok());
  EXPECT_EQ(protection_of(page.address(3)), "r-xp");
}

TEST(CodePatch, AFunctionWithoutRoomForAJumpIsNamedAndNothingIsPatched) {
  const CodePage page;
  Replacement tiny = page.replacement(1, times_ten_address(), nullptr);
  tiny.room = 4;
  tiny.name = "cudaTiny";
  const Status done = apply_patches({page.replacement(0, times_ten_address(), nullptr), tiny});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().what, "cudaTiny has 4 bytes, too few for a jump of 5");
  EXPECT_EQ(page.call(0, 4), 5U);
}

}  // namespace
}  // namespace rocelane::lab
