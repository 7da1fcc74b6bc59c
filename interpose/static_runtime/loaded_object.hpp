// A program or library as the dynamic linker has mapped it, and its file.
#pragma once

#include <cstdint>

#include <link.h>

#include "interpose/static_runtime/redirection.hpp"

namespace sluice::interpose {

// FileView is a regular file in memory while it lives; empty where it cannot be read.
class FileView {
 public:
  explicit FileView(const char* path);
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

inline constexpr const char* own_program = "/proc/self/exe";

// path_of() is where an object's file can be read, also the program's own.
const char* path_of(const link_map& object);

// is_file_of() is false where the file is another one than was mapped.
bool is_file_of(const ElfView& elf, const link_map& object);

// apply() makes the changes in the object's code in memory, all or none. The object's code must not
// be running.
Obstacle apply(const Redirection& redirection, const ElfView& elf, const link_map& object);

}  // namespace sluice::interpose
