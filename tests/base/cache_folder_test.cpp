#include "base/cache_folder.hpp"

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/digest.hpp"
#include "base/scratch_folder.hpp"

namespace sluice {
namespace {

TEST(CacheFolder, AFifoCountsAsMissingAndNobodyWaitsForItsWriter) {
  const ScratchFolder folder;
  ASSERT_EQ(mkfifo(folder.file("name").c_str(), 0600), 0);
  EXPECT_EQ(CacheFolder(folder.path()).load("name"), std::nullopt);
}

// status_of() runs `child` in a process of its own and returns what wait() says of it.
template <typename Child>
int status_of(const Child& child) {
  const pid_t process = fork();
  if (process == 0) {
    child();
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  return status;
}

TEST(CacheFolder, AFileOverTheProgramsLimitIsLeftOutAndEndsNothing) {
  const ScratchFolder folder;
  EXPECT_EQ(status_of([&] {
              const rlimit limit{1000, 1000};
              setrlimit(RLIMIT_FSIZE, &limit);
              CacheFolder(folder.path()).store("large", std::string(5000, 'x'));
              CacheFolder(folder.path()).store("small", "y");
            }),
            0);
  EXPECT_EQ(CacheFolder(folder.path()).load("large"), std::nullopt);
  EXPECT_EQ(CacheFolder(folder.path()).load("small"), "y");
}

TEST(CacheFolder, AProgramsOwnFileOverItsLimitEndsItAsBefore) {
  const ScratchFolder folder;
  const int status = status_of([&] {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    CacheFolder(folder.path()).store("large", std::string(5000, 'x'));
    raise(SIGXFSZ);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
}

TEST(CacheFolder, ALimitHoldsForAllWhoOpenTheFolderLater) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("cache");
  ASSERT_TRUE(CacheFolder::limit(path, 100));
  EXPECT_EQ(CacheFolder(path).most_bytes(), 100U);
  CacheFolder(path).store("large", std::string(60, 'x'));
  CacheFolder(path).store("larger", std::string(90, 'x'));
  EXPECT_LE(CacheFolder(path).contents().bytes, 100U);
  EXPECT_EQ(CacheFolder(path, 1000).most_bytes(), 100U);
  ASSERT_TRUE(CacheFolder::limit(path, std::nullopt));
  EXPECT_EQ(CacheFolder(path, 1000).most_bytes(), 1000U);
}

TEST(CacheFolder, ALowerLimitIsKeptAtOnce) {
  const ScratchFolder folder;
  for (const char* name : {"a", "b", "c"})
    CacheFolder(folder.path()).store(name, std::string(100, 'x'));
  ASSERT_TRUE(CacheFolder::limit(folder.path(), 250));
  CacheFolder(folder.path()).drop_oldest();
  EXPECT_LE(CacheFolder(folder.path()).contents().bytes, 250U);
}

TEST(CacheFolder, ClearingLeavesWhatIsNotOfTheCache) {
  const ScratchFolder folder;
  const CacheFolder cache(folder.path());
  cache.store(digest("kept"), "text");
  cache.store("letter.txt", "not ours");
  ASSERT_TRUE(CacheFolder::limit(folder.path(), 5000));
  EXPECT_EQ(cache.contents().files, 2U);
  cache.clear();
  EXPECT_EQ(cache.contents().files, 1U);
  EXPECT_EQ(cache.load("letter.txt"), "not ours");
  EXPECT_EQ(CacheFolder(folder.path()).most_bytes(), 5000U);
}

TEST(CachePath, TheVariableThenTheUsersFolder) {
  setenv("XDG_CACHE_HOME", "/users/cache", 1);
  setenv("HOME", "/users/home", 1);
  unsetenv("SLUICE_TEST_CACHE");
  EXPECT_EQ(cache_path("SLUICE_TEST_CACHE", "code"), "/users/cache/sluice/code");
  setenv("SLUICE_TEST_CACHE", "/chosen", 1);
  EXPECT_EQ(cache_path("SLUICE_TEST_CACHE", "code"), "/chosen");
  setenv("SLUICE_TEST_CACHE", "off", 1);
  EXPECT_EQ(cache_path("SLUICE_TEST_CACHE", "code"), "");
  setenv("SLUICE_TEST_CACHE", "", 1);
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_path("SLUICE_TEST_CACHE", "code"), "/users/home/.cache/sluice/code");
  unsetenv("HOME");
  EXPECT_EQ(cache_path("SLUICE_TEST_CACHE", "code"), "");
}

}  // namespace
}  // namespace sluice
