#include "interpose/static_runtime/loaded_object.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::interpose {
namespace {

constexpr uint64_t page = 4096;

std::byte* place(const link_map& object, uint64_t address) {
  return reinterpret_cast<std::byte*>(object.l_addr + address);
}

int protection(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// is_unchanged() is true where memory holds what the file does. Elsewhere somebody else has changed
// the code, or will when it is relocated.
bool is_unchanged(const Patch& patch, const ElfView& elf, const link_map& object) {
  const Bytes code = elf.code_at(patch.address, patch.size);
  return code.size() == patch.size &&
         std::memcmp(code.data(), place(object, patch.address), patch.size) == 0;
}

}  // namespace

FileView::FileView(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return;
  struct stat status = {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) bytes_ = {static_cast<const std::byte*>(mapped), size};
  }
  close(file);
}

FileView::~FileView() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

const char* path_of(const link_map& object) {
  const bool is_program = object.l_name == nullptr || *object.l_name == '\0';
  return is_program ? own_program : object.l_name;
}

bool is_file_of(const ElfView& elf, const link_map& object) {
  const auto dynamic = elf.program_header(PT_DYNAMIC);
  return dynamic && object.l_ld == reinterpret_cast<void*>(object.l_addr + dynamic->p_vaddr);
}

Obstacle apply(const Redirection& redirection, const ElfView& elf, const link_map& object) {
  const Array<Patch>& patches = redirection.patches;
  uint64_t first = UINT64_MAX, end = 0;
  for (const Patch& patch : patches) {
    if (!is_unchanged(patch, elf, object)) return obstacle(Obstacle::Kind::elsewhere, "code");
    first = std::min(first, patch.address);
    end = std::max(end, patch.address + patch.size);
  }
  const auto segment = elf.code_segment(first);
  if (!segment) return obstacle(Obstacle::Kind::elsewhere, "code");
  const uint64_t begin = (object.l_addr + first) & ~(page - 1);
  void* const memory = reinterpret_cast<void*>(begin);
  const size_t size = object.l_addr + end - begin;
  // Code that may be run and written at once is what a system may refuse, so that is asked for
  // first: nothing has changed where it says no.
  if (mprotect(memory, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return obstacle(Obstacle::Kind::denied, "code");
  }
  for (const Patch& patch : patches)
    std::memcpy(place(object, patch.address), patch.code, patch.size);
  mprotect(memory, size, protection(*segment));
  return {};
}

}  // namespace sluice::interpose
