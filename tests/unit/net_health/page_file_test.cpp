#include "net/health/page_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

namespace rocelane::telemetry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string path_for(const TemporaryDirectory& directory, uint32_t pid, int attempt = 0) {
  return directory.path() + "/" + page_name(geteuid(), pid, attempt);
}

// A page as its owner leaves it behind that is killed: complete, without a lock.
void leave_page(const std::string& path, const OwnerFacts& owner) {
  PageHeader header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kVersion;
  header.owner = owner;
  std::ofstream(path).write(reinterpret_cast<const char*>(&header), sizeof(header));
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

TEST(PageName, TellsTheProcessAndNothingElse) {
  EXPECT_EQ(page_name(1000, 42, 0), "rocelane.1000.42");
  EXPECT_EQ(page_name(1000, 42, 3), "rocelane.1000.42.3");
  EXPECT_EQ(pid_in_page_name("rocelane.1000.42", 1000), 42U);
  EXPECT_EQ(pid_in_page_name("rocelane.1000.42.3", 1000), 42U);
  for (const char* name :
       {"rocelane.1000.42", "rocelane.100", "rocelane.100.", "rocelane.100.x", "rocelane.100.4x",
        "rocelane.100.4.", "rocelane.100.4.x", "rocelane.100.4.0", "rocelane.100.4.-1",
        "rocelane.100.4.1.1", "rocelane.100.04", "rocelane.100.0", "rocelane.100.-4", "",
        "rocelane.100.99999999999", "xrocelane.100.4", "rocelane-softverbs.100.4"}) {
    EXPECT_EQ(pid_in_page_name(name, 100), std::nullopt) << name;
  }
}

TEST(PageFile, IsClosedToOthersWhateverTheUmask) {
  const TemporaryDirectory directory;
  for (const mode_t mask : {0000U, 0022U, 0777U}) {
    const mode_t before = umask(mask);
    const auto file = PageFile::create(directory.path(), read_own_facts());
    umask(before);
    ASSERT_TRUE(file.ok());
    struct stat facts {};
    ASSERT_EQ(stat(file->path().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, 0600U);
  }
}

TEST(PageFile, IsRemovedByItsOwnerAndNotByAForkedChild) {
  const TemporaryDirectory directory;
  {
    const auto page = page_in(directory);
    ASSERT_NE(page->path(), nullptr) << page->why_hidden()->what;
    auto lane = page->claim_lane({});
    // The child destroys copies of all that the parent owns.
    Child child([&] {
      { const LaneRecorder gone = std::move(lane); }
      page->~TelemetryPage();
      return 0;
    });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(reading_of(*page).lanes.size(), 1U);
  }
  EXPECT_EQ(directory.file_count(), 0U);
}

TEST(PageFile, DoesNotRemoveWhatTookItsName) {
  const TemporaryDirectory directory;
  std::string path;
  {
    const auto page = page_in(directory);
    path = *page->path();
    std::filesystem::remove(path);
    std::ofstream(path) << "somebody else's";
  }
  EXPECT_TRUE(exists(path));
}

TEST(PageFile, FollowsNoLinkThatSomebodyPutInItsPlace) {
  const TemporaryDirectory directory;
  const std::string precious = directory.path() + "/precious";
  std::ofstream(precious) << "data";
  const OwnerFacts me = read_own_facts();
  std::filesystem::create_symlink(precious, path_for(directory, me.pid));
  const auto page = page_in(directory);
  ASSERT_NE(page->path(), nullptr);
  EXPECT_EQ(*page->path(), path_for(directory, me.pid, 1));
  EXPECT_EQ(std::filesystem::file_size(precious), 4U);
}

TEST(PageFile, GetsANameOfItsOwnWhenAProcessHasTwo) {
  const TemporaryDirectory directory;
  const auto first = page_in(directory);
  const auto second = page_in(directory);
  ASSERT_NE(second->path(), nullptr);
  EXPECT_NE(*first->path(), *second->path());
  EXPECT_EQ(list_page_files(directory.path(), geteuid()).size(), 2U);
  EXPECT_TRUE(reading_of(*first).owner_is_running);
}

TEST(Leftovers, OfAKilledProcessAreRemovedByTheNext) {
  const TemporaryDirectory directory;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  Child child([&] {
    const auto page = page_in(directory);
    return write(ready[1], "x", 1) == 1 ? pause() : 1;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 0);
  ASSERT_TRUE(exists(path_for(directory, child.pid())));
  child.kill();
  child.wait();
  const auto page = page_in(directory);
  EXPECT_THAT(list_page_files(directory.path(), geteuid()), ElementsAre(*page->path()));
}

TEST(Leftovers, IncludeThoseWhoseProcessNumberIsInUseAgain) {
  const TemporaryDirectory directory;
  Child younger([] { return pause(); });
  OwnerFacts older = read_own_facts();
  older.pid = younger.pid();
  older.start_ticks = 1;
  leave_page(path_for(directory, younger.pid()), older);
  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 1);
  EXPECT_EQ(directory.file_count(), 0U);
  younger.kill();
}

TEST(Leftovers, DoNotIncludeARunningProcessThatLostItsLock) {
  const TemporaryDirectory directory;
  Child child([] { return pause(); });
  OwnerFacts owner = read_own_facts();
  owner.pid = child.pid();
  owner.start_ticks = read_start_ticks(child.pid()).value_or(0);
  leave_page(path_for(directory, child.pid()), owner);
  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 0);
  child.kill();
}

TEST(Leftovers, OfAnotherPidNamespaceAreJudgedByTheirLock) {
  const TemporaryDirectory directory;
  OwnerFacts elsewhere = read_own_facts();
  elsewhere.pid = 1;
  elsewhere.pid_namespace = 1;
  const std::string path = path_for(directory, 1);
  leave_page(path, elsewhere);
  {
    const FileDescriptor owner(open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock {};
    lock.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(owner.get(), F_OFD_SETLK, &lock), 0);
    EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 0);
  }
  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 1);
}

TEST(Leftovers, AreThisProcessesOwnAfterExec) {
  const TemporaryDirectory directory;
  const OwnerFacts me = read_own_facts();
  leave_page(path_for(directory, me.pid), me);
  const auto page = page_in(directory);
  EXPECT_EQ(*page->path(), path_for(directory, me.pid));
  EXPECT_EQ(directory.file_count(), 1U);
}

TEST(Leftovers, DoNotIncludeFilesThatAreNoPages) {
  const TemporaryDirectory directory;
  OwnerFacts gone = read_own_facts();
  gone.pid = 999'999'999;
  const std::string text = path_for(directory, 1'000'001);
  std::ofstream(text) << "notes of mine";
  chmod(text.c_str(), 0600);
  const std::string open_to_all = path_for(directory, 1'000'002);
  leave_page(open_to_all, gone);
  chmod(open_to_all.c_str(), 0644);
  const std::string two_names = path_for(directory, 1'000'003);
  leave_page(two_names, gone);
  std::filesystem::create_hard_link(two_names, directory.path() + "/kept");
  const std::string pipe_end = path_for(directory, 1'000'004);
  ASSERT_EQ(mkfifo(pipe_end.c_str(), 0600), 0);
  OwnerFacts of_another_host = gone;
  of_another_host.boot_id[0] ^= 1;
  of_another_host.host_name[0] ^= 1;
  leave_page(path_for(directory, 1'000'005), of_another_host);

  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 0);
  EXPECT_EQ(directory.file_count(), 6U);
}

TEST(Leftovers, IncludeFilesWhoseCreatorsDiedBeforeFillingThem) {
  const TemporaryDirectory directory;
  for (const uint32_t pid : {1'000'001U, 1'000'002U}) {
    std::ofstream file(path_for(directory, pid));
    file << std::string(pid == 1'000'001U ? 0 : 8192, '\0');
    chmod(path_for(directory, pid).c_str(), 0600);
  }
  EXPECT_EQ(remove_leftovers(directory.path(), read_own_facts(), read_start_ticks), 2);
}

TEST(OpenPageFile, SaysWhatAPageMustBe) {
  const TemporaryDirectory directory;
  const std::string path = path_for(directory, 7);
  std::ofstream(path) << "x";
  chmod(path.c_str(), 0640);
  const auto file = open_page_file(path, geteuid(), O_RDONLY);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().what, HasSubstr(path + " is not a telemetry page"));
  EXPECT_FALSE(open_page_file(path, geteuid() + 1, O_RDONLY).ok());
}

}  // namespace
}  // namespace rocelane::telemetry
