// The folders in which Sluice keeps what it need not find out again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::tools {

struct UserCache {
  const char* what;
  const char* variable;  // of the environment, which names another folder or turns it off
  std::string path;      // empty: nothing is kept
  uint64_t usual_bytes;  // what it may grow to unless it was told otherwise
};

// user_caches() are those that a program started from here would use.
std::vector<UserCache> user_caches();

// contents_text() is "FOLDER: 12 files, 1.2 MiB of 64.0 MiB at most".
std::string contents_text(const UserCache& cache);

// bytes_text() is "64.0 MiB".
std::string bytes_text(uint64_t bytes);

}  // namespace sluice::tools
