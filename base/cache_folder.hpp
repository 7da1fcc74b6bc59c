// A folder of small files that only spare work: whatever fails there is as if nothing was kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace sluice {

// CacheFolder keeps texts under names. Files appear by being renamed, so that processes side by
// side never see half of one; one that others may write, or that is not the user's, counts as
// missing. The program's errno stays as it was. Thread-safe.
class CacheFolder {
 public:
  static constexpr uint64_t usual_bytes = uint64_t{64} << 20U;        // of analyses
  static constexpr uint64_t usual_code_bytes = uint64_t{256} << 20U;  // of compiled code

  // `path` need not be there yet. The files used least recently go where all exceed `most_bytes`,
  // or what limit() has put in its place, which is looked at about once for each 1/32 of it that is
  // stored.
  explicit CacheFolder(std::string path, uint64_t most_bytes = usual_bytes);

  // `name` is a file name without slashes.
  std::optional<std::string> load(const std::string& name) const;
  void store(const std::string& name, const std::string& text) const;

  // What is kept now. most_bytes() is what it may grow to.
  struct Contents {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  Contents contents() const;
  uint64_t most_bytes() const { return most_bytes_; }

  // clear() removes all files that were stored under digests; others are not ours.
  void clear() const;
  // limit() has the folder keep to so many bytes from now on, in every process that opens it later;
  // nothing: to what each says itself. An error where that cannot be written down.
  static Status limit(const std::string& path, std::optional<uint64_t> most_bytes);
  // drop_oldest() removes files while they exceed the limit, down to half of it.
  void drop_oldest() const;

 private:
  bool has_grown_enough(uint64_t bytes) const;

  const std::string path_;
  const uint64_t most_bytes_;
};

// cache_path() is the folder that the environment's `variable` names, or else `name` in Sluice's
// part of the user's cache folder; empty where the variable says "off" or there is no such folder.
std::string cache_path(const char* variable, const std::string& name);

// build_identity() changes with every build of the library or program that this code is linked to:
// what another one made may be of no use.
std::string build_identity();

// file_identity() changes with every build of the library at `path`; "unknown" where there is none.
std::string file_identity(const std::string& path);

}  // namespace sluice
