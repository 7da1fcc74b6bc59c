// A file in memory for what reads by path.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace sluice::fuzz {

// ScratchFile holds one input at a time.
class ScratchFile {
 public:
  ScratchFile() : file_(memfd_create("input", 0)), path_("/proc/self/fd/" + std::to_string(file_)) {
    if (file_ < 0) std::abort();
  }
  ~ScratchFile() { close(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // holding() is the path of a file that holds these bytes, until the next call.
  const std::string& holding(std::string_view bytes) {
    const bool written = ftruncate(file_, 0) == 0 && pwrite(file_, bytes.data(), bytes.size(), 0) ==
                                                         static_cast<ssize_t>(bytes.size());
    if (!written) std::abort();
    return path_;
  }

 private:
  const int file_;
  const std::string path_;
};

// fail() is what a target does with an input that shows a bug.
[[noreturn]] inline void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace sluice::fuzz
