// What the audit library has in the C library's place computes what that does. Here its functions
// have "own_" before their names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch_folder.hpp"

extern "C" {
void* own_memcpy(void* to, const void* from, size_t size);
void* own_memmove(void* to, const void* from, size_t size);
void* own_memset(void* to, int value, size_t size);
int own_memcmp(const void* a, const void* b, size_t size);
void* own_memchr(const void* bytes, int wanted, size_t size);
void* own_memmem(const void* bytes, size_t size, const void* wanted, size_t length);
size_t own_strlen(const char* text);
size_t own_strnlen(const char* text, size_t most);
int own_strcmp(const char* a, const char* b);
int own_strncmp(const char* a, const char* b, size_t most);
char* own_strrchr(const char* text, int wanted);
int own_open(const char* path, int flags, ...);
int own_close(int file);
int own_access(const char* path, int mode);
int own_stat(const char* path, struct stat* status);
int own_fstat(int file, struct stat* status);
ssize_t own_write(int file, const void* bytes, size_t size);
ssize_t own_pread(int file, void* bytes, size_t size, off_t offset);
ssize_t own_readlink(const char* path, char* target, size_t size);
char* own_realpath(const char* path, char* real);
char* own_getenv(const char* name);
void own_free(void* memory);
void* own_realloc(void* memory, size_t size);
int own_snprintf(char* text, size_t room, const char* format, ...);

// Where the process's arguments lie, as the dynamic linker tells it.
void* own_stack_end = nullptr;
}

namespace {

int sign(int value) {
  return (value > 0) - (value < 0);
}

TEST(CFunctions, MemoryIsCopiedComparedAndFilled) {
  std::string text = "0123456789";
  own_memmove(text.data() + 2, text.data(), 6);
  EXPECT_EQ(text, "0101234589");
  own_memmove(text.data(), text.data() + 2, 6);
  EXPECT_EQ(text, "0123454589");
  own_memset(text.data() + 8, 'x', 2);
  EXPECT_EQ(text, "01234545xx");
  std::string copy(10, ' ');
  own_memcpy(copy.data(), text.data(), 10);
  EXPECT_EQ(copy, text);
  EXPECT_EQ(own_memcmp("abc", "abd", 2), 0);
  EXPECT_LT(own_memcmp("ab\x01", "ab\xff", 3), 0);
  EXPECT_EQ(own_memchr("abc", 'b', 1), nullptr);
}

TEST(CFunctions, TextsAreComparedAsTheCLibraryDoes) {
  const std::vector<const char*> texts = {"", "a", "ab", "abc", "ab/c", "b", "/a/b", "\xff"};
  for (const char* const a : texts) {
    EXPECT_EQ(own_strlen(a), std::strlen(a));
    EXPECT_EQ(own_strnlen(a, 2), strnlen(a, 2));
    EXPECT_EQ(own_strrchr(a, '/'), std::strrchr(a, '/'));
    EXPECT_EQ(own_strrchr(a, '\0'), std::strrchr(a, '\0'));
    for (const char* const b : texts) {
      EXPECT_EQ(sign(own_strcmp(a, b)), sign(std::strcmp(a, b))) << a << ' ' << b;
      EXPECT_EQ(sign(own_strncmp(a, b, 2)), sign(std::strncmp(a, b, 2))) << a << ' ' << b;
    }
  }
}

TEST(CFunctions, WordsAreFoundWhereverTheyStand) {
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto of_two = [&](size_t length) {
      std::string text(length, '_');
      for (char& letter : text)
        letter = random() % 4 == 0 ? 'a' : '_';
      return text;
    };
    const std::string text = of_two(random() % 80), word = of_two(random() % 9);
    ASSERT_EQ(own_memmem(text.data(), text.size(), word.data(), word.size()),
              memmem(text.data(), text.size(), word.data(), word.size()))
        << text << ' ' << word;
  }
}

TEST(CFunctions, MemoryGrowsWithWhatItHolds) {
  auto* numbers = static_cast<int*>(own_realloc(nullptr, 4 * sizeof(int)));
  for (int i = 0; i < 4; ++i)
    numbers[i] = i;
  numbers = static_cast<int*>(own_realloc(numbers, 1'000'000 * sizeof(int)));
  ASSERT_NE(numbers, nullptr);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(numbers[i], i);
  numbers[999'999] = 1;
  own_free(numbers);
  own_free(nullptr);
}

TEST(CFunctions, TextsAreWrittenAsFarAsThereIsRoom) {
  for (const size_t room : {size_t{0}, size_t{1}, size_t{5}, size_t{64}}) {
    char own[64] = "before", right[64] = "before";
    EXPECT_EQ(
        own_snprintf(own, room, "%s: %.*s/%s %d %zu%s", "a", 3, "words", "c", 120, size_t{42}, ""),
        std::snprintf(right, room, "%s: %.*s/%s %d %zu%s", "a", 3, "words", "c", 120, size_t{42},
                      ""));
    EXPECT_STREQ(own, right) << room;
  }
}

TEST(CFunctions, FilesAreTheSystems) {
  const sluice::ScratchFolder folder;
  const std::string path = folder.file("file"), link = folder.file("link");
  std::FILE* const made = std::fopen(path.c_str(), "w");
  std::fputs("text", made);
  std::fclose(made);
  ASSERT_EQ(symlink("file", link.c_str()), 0);

  struct stat status = {};
  EXPECT_EQ(own_stat(link.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 4);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(own_stat(folder.file("none").c_str(), &status), -1);
  EXPECT_EQ(own_access(path.c_str(), R_OK), 0);
  EXPECT_EQ(own_access(folder.file("none").c_str(), R_OK), -1);
  const int file = own_open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(own_write(file, "longer", 6), 6);
  EXPECT_EQ(own_fstat(file, &status), 0);
  EXPECT_EQ(status.st_size, 6);
  char target[16] = {};
  EXPECT_EQ(own_pread(file, target, sizeof target, 2), 4);
  EXPECT_STREQ(target, "nger");
  EXPECT_EQ(own_close(file), 0);
  EXPECT_EQ(own_pread(file, target, sizeof target, 0), -1);
  EXPECT_EQ(own_readlink(link.c_str(), target, sizeof target), 4);
  EXPECT_STREQ(target, "file");
  char own[4096], right[4096];
  ASSERT_NE(own_realpath(link.c_str(), own), nullptr);
  ASSERT_NE(realpath(link.c_str(), right), nullptr);
  EXPECT_STREQ(own, right);
  EXPECT_EQ(own_realpath(folder.file("none").c_str(), own), nullptr);
}

TEST(CFunctions, EnvironmentIsWhatTheProcessBeganWith) {
  char program[] = "program", one[] = "ONE=1", two[] = "ONE_MORE=2", empty[] = "EMPTY=";
  char* stack[] = {nullptr, program, nullptr, two, one, empty, nullptr};
  const intptr_t arguments = 1;
  std::memcpy(stack, &arguments, sizeof arguments);
  own_stack_end = stack;
  EXPECT_STREQ(own_getenv("ONE"), "1");
  EXPECT_STREQ(own_getenv("ONE_MORE"), "2");
  EXPECT_STREQ(own_getenv("EMPTY"), "");
  EXPECT_EQ(own_getenv("TWO"), nullptr);
}

}  // namespace
