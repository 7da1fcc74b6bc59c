// Long work tells of itself on a terminal, and nowhere else.
#include "base/terminal/slow_work.hpp"

#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

// ErrorsTo has stderr be another file as long as it lives.
class ErrorsTo {
 public:
  explicit ErrorsTo(int file) : before_(dup(STDERR_FILENO)) { dup2(file, STDERR_FILENO); }
  ~ErrorsTo() {
    dup2(before_, STDERR_FILENO);
    close(before_);
  }

 private:
  const int before_;
};

TEST(SlowWork, OnATerminalItTellsWhileItLasts) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const int screen = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  std::string seen;
  {
    const ErrorsTo there(screen);
    const SlowWork work("analysing", "_Z5scaleIfEvPT_i", "which may take a while", 0ms);
    char character = 0;
    while (character != '\n' && read(terminal, &character, 1) == 1)
      seen += character;
  }
  EXPECT_THAT(seen, testing::HasSubstr("analysing scale<float>, which may take a while"));
  close(screen);
  close(terminal);
}

TEST(SlowWork, ElsewhereItSaysNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    const ErrorsTo there(ends[1]);
    const SlowWork work("analysing", "kernel", "which may take a while", 0ms);
  }
  close(ends[1]);
  char character = 0;
  EXPECT_EQ(read(ends[0], &character, 1), 0);
  close(ends[0]);
}

}  // namespace
}  // namespace sluice
