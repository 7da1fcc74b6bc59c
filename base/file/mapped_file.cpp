#include "base/file/mapped_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe of that name would wait for its writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return system_error(std::strerror(errno), path);
  struct stat status = {};
  const bool is_regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const size_t size = is_regular ? static_cast<size_t>(status.st_size) : 0;
  void* const mapped = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (!is_regular || mapped == MAP_FAILED) return system_error("can't read the file", path);
  return MappedFile({static_cast<const std::byte*>(mapped), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace sluice
