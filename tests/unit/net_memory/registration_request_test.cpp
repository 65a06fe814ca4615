#include "net/memory/registration_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file_descriptor.h"

namespace rocelane::net {
namespace {

using testing::HasSubstr;

FileDescriptor new_buffer() { return FileDescriptor(memfd_create("buffer", MFD_CLOEXEC)); }

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

RegistrationClass class_of(uint64_t address, int descriptor, uint64_t offset) {
  return registration_request(at(address), 4096, MemoryKind::kGpu, DmaBuf{descriptor, offset},
                              false)
      .value()
      .sharing_class;
}

TEST(RegistrationRequest, SaysWhichBytesInWhichClass) {
  const auto request =
      registration_request(at(0x1000), 0x200, MemoryKind::kHost, std::nullopt, true).value();
  EXPECT_EQ(request.range, (MemoryRange{0x1000, 0x1200}));
  EXPECT_EQ(request.sharing_class, (RegistrationClass{MemoryKind::kHost, true, {}}));
  EXPECT_FALSE(request.dma_buf.has_value());
}

TEST(RegistrationRequest, TellsClassesApartByKindAndOrderingAndDmaBuf) {
  const RegistrationClass base{MemoryKind::kGpu, false, {}};
  EXPECT_NE(base, (RegistrationClass{MemoryKind::kHost, false, {}}));
  EXPECT_NE(base, (RegistrationClass{MemoryKind::kGpu, true, {}}));
  EXPECT_NE(base, (RegistrationClass{MemoryKind::kGpu, false, DmaBufIdentity{}}));
}

TEST(RegistrationRequest, KnowsADmaBufAgainByAnotherDescriptor) {
  const FileDescriptor buffer = new_buffer();
  const FileDescriptor again(dup(buffer.get()));
  ASSERT_NE(buffer.get(), again.get());
  EXPECT_EQ(class_of(0x10000, buffer.get(), 0), class_of(0x10000, again.get(), 0));
}

TEST(RegistrationRequest, TellsTwoDmaBufsApartThatHadTheSameDescriptor) {
  FileDescriptor first = new_buffer();
  const FileDescriptor keeps_it_alive(dup(first.get()));
  const int number = first.get();
  const RegistrationClass before = class_of(0x10000, number, 0);
  first = FileDescriptor();
  const FileDescriptor second = new_buffer();
  ASSERT_EQ(second.get(), number) << "the kernel gives out the lowest free number";
  EXPECT_NE(class_of(0x10000, number, 0), before);
}

TEST(RegistrationRequest, TellsTheSameDmaBufMappedElsewhereApart) {
  const FileDescriptor buffer = new_buffer();
  const RegistrationClass base = class_of(0x10000, buffer.get(), 0x1000);
  EXPECT_EQ(class_of(0x12000, buffer.get(), 0x3000), base) << "a later part of the same mapping";
  EXPECT_NE(class_of(0x12000, buffer.get(), 0x1000), base);
  EXPECT_NE(class_of(0x10000, buffer.get(), 0x3000), base);
}

TEST(RegistrationRequest, TakesAnOffsetLargerThanTheAddress) {
  const FileDescriptor buffer = new_buffer();
  EXPECT_EQ(class_of(0x1000, buffer.get(), 0x10000), class_of(0x2000, buffer.get(), 0x11000));
}

TEST(RegistrationRequest, RefusesADescriptorThatIsNotOpen) {
  const auto request = registration_request(at(0x1000), 64, MemoryKind::kGpu, DmaBuf{-1, 0}, false);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(request.error().what, HasSubstr("dma-buf descriptor -1"));
  EXPECT_THAT(request.error().what, HasSubstr("NCCL_DMABUF_ENABLE=0"));
}

TEST(RegistrationRequest, RefusesARangeThatWrapsAround) {
  const auto request =
      registration_request(at(0x1000), SIZE_MAX - 16, MemoryKind::kHost, std::nullopt, false);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(request.error().what, HasSubstr("end of the address space"));
}

}  // namespace
}  // namespace rocelane::net
