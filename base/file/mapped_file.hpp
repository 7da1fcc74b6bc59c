// A file's bytes without reading those that nobody looks at.
#pragma once

#include <string>
#include <utility>

#include "base/file/bytes.hpp"
#include "base/result.hpp"

namespace sluice {

// MappedFile is a regular file in memory, as it is: who shortens it meanwhile takes its bytes away,
// so it is for files that stay, such as programs and libraries that run.
class MappedFile {
 public:
  // open() maps the file at `path`. An error where it cannot be read or is no regular file.
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  Bytes bytes() const { return bytes_; }

 private:
  explicit MappedFile(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

}  // namespace sluice
