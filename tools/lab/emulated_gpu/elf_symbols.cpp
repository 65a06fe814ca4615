#include "elf_symbols.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rocelane::lab {
namespace {

// A file mapped for reading.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      return failure(path);
    }
    struct stat facts {};
    void* start = MAP_FAILED;
    size_t bytes = 0;
    if (::fstat(fd, &facts) == 0 && facts.st_size > 0) {
      bytes = static_cast<size_t>(facts.st_size);
      start = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    } else {
      errno = EINVAL;
    }
    const int mapping_error = errno;
    ::close(fd);
    if (start == MAP_FAILED) {
      errno = mapping_error;
      return failure(path);
    }
    return MappedFile(start, bytes);
  }
  MappedFile(MappedFile&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (start_ != nullptr) {
      ::munmap(start_, bytes_);
    }
  }
  std::span<const std::byte> content() const {
    return {static_cast<const std::byte*>(start_), bytes_};
  }

 private:
  MappedFile(void* start, size_t bytes) : start_(start), bytes_(bytes) {}
  static Error failure(const std::string& path) {
    return {ErrorCode::kSystem, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  }
  void* start_;
  size_t bytes_;
};

std::optional<std::span<const std::byte>> part(std::span<const std::byte> file, uint64_t offset,
                                               uint64_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset) {
    return std::nullopt;
  }
  return file.subspan(offset, bytes);
}

template <class T>
std::optional<T> record_at(std::span<const std::byte> file, uint64_t offset) {
  const auto bytes = part(file, offset, sizeof(T));
  if (!bytes) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes->data(), sizeof(T));
  return value;
}

std::optional<std::string> text_at(std::span<const std::byte> strings, uint64_t offset) {
  if (offset >= strings.size()) {
    return std::nullopt;
  }
  const auto* start = reinterpret_cast<const char*>(strings.data()) + offset;
  const size_t room = strings.size() - offset;
  const size_t length = ::strnlen(start, room);
  if (length == room) {
    return std::nullopt;
  }
  return std::string(start, length);
}

bool is_supported(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         header.e_shentsize == sizeof(Elf64_Shdr);
}

bool is_wanted(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT);
}

Error damaged(const std::string& path) {
  return {ErrorCode::kInvalidArgument, fmt::format("{} has a damaged symbol table", path)};
}

Result<std::vector<ElfSymbol>> read_table(std::span<const std::byte> file, const Elf64_Shdr& table,
                                          const Elf64_Shdr& names, const std::string& path) {
  const auto strings = part(file, names.sh_offset, names.sh_size);
  const auto records = part(file, table.sh_offset, table.sh_size);
  if (!strings || !records) {
    return damaged(path);
  }
  std::vector<ElfSymbol> symbols;
  for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= records->size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = record_at<Elf64_Sym>(*records, at);
    if (!is_wanted(*symbol)) {
      continue;
    }
    std::optional<std::string> name = text_at(*strings, symbol->st_name);
    if (!name) {
      return damaged(path);
    }
    symbols.push_back({std::move(*name), symbol->st_value, symbol->st_size,
                       ELF64_ST_TYPE(symbol->st_info) == STT_FUNC});
  }
  return symbols;
}

}  // namespace

Result<ElfSymbols> ElfSymbols::read(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.error();
  }
  return parse(file->content(), path);
}

Result<ElfSymbols> ElfSymbols::parse(std::span<const std::byte> file, const std::string& path) {
  const auto header = record_at<Elf64_Ehdr>(file, 0);
  if (!header || !is_supported(*header)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{} is not a 64-bit little-endian ELF library", path)};
  }
  const auto section = [&](uint64_t index) {
    return record_at<Elf64_Shdr>(file, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint64_t index = 0; index < header->e_shnum; ++index) {
    const auto table = section(index);
    if (!table) {
      return damaged(path);
    }
    if (table->sh_type != SHT_SYMTAB) {
      continue;
    }
    const auto names = table->sh_link < header->e_shnum ? section(table->sh_link) : std::nullopt;
    if (!names) {
      return damaged(path);
    }
    Result<std::vector<ElfSymbol>> symbols = read_table(file, *table, *names, path);
    if (!symbols) {
      return symbols.error();
    }
    std::ranges::stable_sort(*symbols, {}, &ElfSymbol::name);
    return ElfSymbols(std::move(*symbols));
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{} has no symbol table (it was stripped)", path)};
}

const ElfSymbol* ElfSymbols::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      symbols_, name, {}, [](const ElfSymbol& s) { return std::string_view(s.name); });
  return found != symbols_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace rocelane::lab
