#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include "elf_symbols.h"

extern "C" {
[[gnu::noinline, gnu::used]] static int elf_symbols_test_local_function(int value) {
  return value * 3;
}
}

namespace rocelane::lab {
namespace {

uintptr_t load_address_of_this_program() {
  uintptr_t address = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uintptr_t*>(out) = info->dlpi_addr;
        return 1;  // the program itself is the first
      },
      &address);
  return address;
}

std::vector<std::byte> this_program() {
  std::vector<std::byte> content(std::filesystem::file_size("/proc/self/exe"));
  std::ifstream file("/proc/self/exe", std::ios::binary);
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return content;
}

// Calls `change` for each section header of the file.
template <class Change>
void for_each_section(std::vector<std::byte>& file, Change change) {
  auto* header = reinterpret_cast<Elf64_Ehdr*>(file.data());
  auto* sections = reinterpret_cast<Elf64_Shdr*>(file.data() + header->e_shoff);
  std::for_each_n(sections, header->e_shnum, change);
}

TEST(ElfSymbols, FindsALocalFunctionWhereItIsLoaded) {
  const auto symbols = ElfSymbols::read("/proc/self/exe");
  ASSERT_TRUE(symbols.ok()) << symbols.error().what;
  const ElfSymbol* symbol = symbols->find("elf_symbols_test_local_function");
  ASSERT_NE(symbol, nullptr);
  EXPECT_TRUE(symbol->is_function);
  EXPECT_GT(symbol->size, 0U);
  EXPECT_EQ(load_address_of_this_program() + symbol->offset,
            reinterpret_cast<uintptr_t>(&elf_symbols_test_local_function));
}

TEST(ElfSymbols, DoesNotFindWhatIsNotThere) {
  const auto symbols = ElfSymbols::read("/proc/self/exe");
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(symbols->find("elf_symbols_test_local_functio"), nullptr);
  EXPECT_EQ(symbols->find(""), nullptr);
}

TEST(ElfSymbols, SaysThatALibraryWasStripped) {
  std::vector<std::byte> file = this_program();
  for_each_section(file, [](Elf64_Shdr& section) {
    if (section.sh_type == SHT_SYMTAB) {
      section.sh_type = SHT_NULL;
    }
  });
  const auto symbols = ElfSymbols::parse(file, "lib.so");
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().what, "lib.so has no symbol table (it was stripped)");
}

TEST(ElfSymbols, RefusesAFileThatIsNoLibrary) {
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(ElfSymbols::parse(zeros, "zeros").ok());
  EXPECT_FALSE(ElfSymbols::parse({}, "empty").ok());
  EXPECT_FALSE(ElfSymbols::read("/nonexistent/lib.so").ok());
}

TEST(ElfSymbols, RefusesAFileCutOffAnywhereBeforeItsSectionTable) {
  const std::vector<std::byte> file = this_program();
  const std::span whole(file);
  for (size_t parts = 1; parts < 16; ++parts) {
    EXPECT_FALSE(ElfSymbols::parse(whole.first(file.size() * parts / 16), "cut").ok()) << parts;
  }
}

TEST(ElfSymbols, RefusesATableThatPointsOutsideTheFile) {
  std::vector<std::byte> file = this_program();
  for_each_section(file, [](Elf64_Shdr& section) {
    if (section.sh_type == SHT_SYMTAB) {
      section.sh_offset = UINT64_MAX - 8;
    }
  });
  const auto symbols = ElfSymbols::parse(file, "lib.so");
  ASSERT_FALSE(symbols.ok());
  EXPECT_EQ(symbols.error().what, "lib.so has a damaged symbol table");
}

}  // namespace
}  // namespace rocelane::lab
