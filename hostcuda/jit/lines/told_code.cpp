#include "hostcuda/jit/lines/told_code.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

extern "C" {
// What gdb looks for, by these names.
struct SluiceJitEntry {
  SluiceJitEntry* next;
  SluiceJitEntry* previous;
  const char* object;
  uint64_t bytes;
};
struct SluiceJitDescriptor {
  uint32_t version;
  uint32_t action;
  SluiceJitEntry* relevant;
  SluiceJitEntry* first;
};
[[gnu::visibility("default"), gnu::used]] SluiceJitDescriptor __jit_debug_descriptor = {
    1, 0, nullptr, nullptr};
// gdb sets a breakpoint here.
[[gnu::visibility("default"), gnu::used, gnu::noinline]] void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}
}

namespace sluice::hostcuda::jit {
namespace {

enum : uint32_t { nothing, registers, unregisters };

std::mutex& mutex() {
  static auto* const one = new std::mutex;
  return *one;
}

// placed() is the object with the addresses of its sections.
std::string placed(std::string object, const std::vector<CodePart>& sections) {
  std::map<std::string, uint64_t> addresses;
  for (const CodePart& section : sections)
    addresses[section.name] = section.address;
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return object;
  std::memcpy(&header, object.data(), sizeof header);
  const auto section_at = [&](size_t number) {
    return header.e_shoff + number * sizeof(Elf64_Shdr);
  };
  const auto read = [&](size_t number) {
    Elf64_Shdr section{};
    if (section_at(number + 1) <= object.size())
      std::memcpy(&section, object.data() + section_at(number), sizeof section);
    return section;
  };
  const Elf64_Shdr names = read(header.e_shstrndx);
  for (size_t number = 0; number < header.e_shnum; ++number) {
    Elf64_Shdr section = read(number);
    const uint64_t name = names.sh_offset + section.sh_name;
    if (name >= object.size()) continue;
    const auto found = addresses.find(object.c_str() + name);
    if (found == addresses.end()) continue;
    section.sh_addr = found->second;
    std::memcpy(object.data() + section_at(number), &section, sizeof section);
  }
  return object;
}

void tell(SluiceJitEntry& entry, uint32_t action) {
  __jit_debug_descriptor.relevant = &entry;
  __jit_debug_descriptor.action = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action = nothing;
}

}  // namespace

struct ToldCode::Entry : SluiceJitEntry {};

ToldCode::ToldCode(std::string object, const std::vector<CodePart>& sections)
    : object_(placed(std::move(object), sections)), entry_(std::make_unique<Entry>()) {
  const std::lock_guard lock(mutex());
  SluiceJitEntry*& first = __jit_debug_descriptor.first;
  static_cast<SluiceJitEntry&>(*entry_) = {first, nullptr, object_.data(), object_.size()};
  if (first != nullptr) first->previous = entry_.get();
  first = entry_.get();
  tell(*entry_, registers);
}

ToldCode::~ToldCode() {
  const std::lock_guard lock(mutex());
  if (entry_->previous != nullptr) {
    entry_->previous->next = entry_->next;
  } else {
    __jit_debug_descriptor.first = entry_->next;
  }
  if (entry_->next != nullptr) entry_->next->previous = entry_->previous;
  tell(*entry_, unregisters);
}

void tell_perf(const std::vector<CodePart>& functions) {
  const std::lock_guard lock(mutex());
  std::FILE* const map = std::fopen(fmt::format("/tmp/perf-{}.map", getpid()).c_str(), "a");
  if (map == nullptr) return;
  for (const CodePart& function : functions)
    fmt::print(map, "{:x} {:x} {}\n", function.address, function.bytes, function.name);
  std::fclose(map);
}

}  // namespace sluice::hostcuda::jit
