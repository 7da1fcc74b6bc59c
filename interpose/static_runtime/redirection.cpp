#include "interpose/static_runtime/redirection.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::interpose {
namespace {

constexpr size_t jump_size = 14;      // jmp *0(%rip), followed by the address
constexpr size_t near_size = 5;       // jmp to a place of the same segment
constexpr size_t resolver_size = 11;  // mov $address, %rax; ret

size_t size_of(const CopiedFunction& function) {
  return function.is_resolver ? resolver_size : jump_size;
}

Patch lead(uint64_t address, uint64_t target, bool is_resolver) {
  constexpr uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
  constexpr uint8_t load[] = {0x48, 0xb8};
  Patch patch;
  patch.address = address;
  if (is_resolver) {
    patch.size = resolver_size;
    std::memcpy(patch.code, load, sizeof load);
    std::memcpy(patch.code + sizeof load, &target, sizeof target);
    patch.code[resolver_size - 1] = 0xc3;
  } else {
    patch.size = jump_size;
    std::memcpy(patch.code, jump, sizeof jump);
    std::memcpy(patch.code + sizeof jump, &target, sizeof target);
  }
  return patch;
}

// Both lie in one segment, which is smaller than such a jump reaches.
Patch near_jump(uint64_t address, uint64_t target) {
  Patch patch;
  patch.address = address;
  patch.size = near_size;
  patch.code[0] = 0xe9;
  const auto distance = static_cast<int32_t>(static_cast<int64_t>(target - address - near_size));
  std::memcpy(patch.code + 1, &distance, sizeof distance);
  return patch;
}

// widen() gives each function the room that it has: its size, a short one with the padding behind
// it, and no more than up to the next function, whatever that is called.
void widen(const ElfView& elf, Array<CopiedFunction>& functions) {
  for (CopiedFunction& function : functions) {
    if (function.size >= jump_size) continue;
    function.size +=
        padding_size(elf.code_at(function.address + function.size, jump_size - function.size));
  }
  for (const uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const ElfSymbols symbols(elf, type);
    for (size_t i = 0; i < symbols.size(); ++i) {
      const Elf64_Sym symbol = symbols[i];
      if (!is_defined_function(symbol)) continue;
      CopiedFunction* const next = std::lower_bound(
          functions.begin(), functions.end(), symbol.st_value,
          [](const CopiedFunction& function, uint64_t at) { return function.address < at; });
      if (next == functions.begin()) continue;
      CopiedFunction& before = next[-1];
      before.size = std::min(before.size, symbol.st_value - before.address);
    }
  }
}

bool is_in_one_segment(const ElfView& elf, const Array<CopiedFunction>& functions) {
  const auto segment = elf.code_segment(functions[0].address);
  const CopiedFunction& last = functions[functions.size() - 1];
  return segment && segment->p_filesz < INT32_MAX &&
         last.address - segment->p_vaddr < segment->p_filesz &&
         segment->p_filesz - (last.address - segment->p_vaddr) >= near_size;
}

}  // namespace

size_t padding_size(Bytes code) {
  const auto at = [code](size_t place) {
    return place < code.size() ? static_cast<uint8_t>(code[place]) : uint8_t{0};
  };
  size_t size = 0;
  while (size < code.size()) {
    size_t place = size;
    if (at(place) == 0xcc || at(place) == 0x90) {
      ++size;
      continue;
    }
    // nop with prefixes: 66 ... [2e] 90 or 0f 1f, whose operand is memory that is not accessed.
    while (at(place) == 0x66)
      ++place;
    if (at(place) == 0x2e) ++place;
    if (at(place) == 0x90) {
      size = place + 1;
      continue;
    }
    if (at(place) != 0x0f || at(place + 1) != 0x1f) break;
    const uint8_t operand = at(place + 2);
    constexpr size_t offsets[] = {0, 1, 4, 0};  // how many bytes its address has, by mode
    const bool has_index = (operand & 7) == 4;
    size = place + 3 + (has_index ? 1 : 0) + offsets[operand >> 6];
  }
  return std::min(size, code.size());
}

Redirection redirect(const ElfView& elf, RuntimeCopy copy, uint64_t ours) {
  Redirection made;
  Array<CopiedFunction>& functions = copy.functions;
  if (copy.obstacle) {
    made.obstacle = copy.obstacle;
    return made;
  }
  if (!is_in_one_segment(elf, functions)) {
    made.obstacle = obstacle(Obstacle::Kind::elsewhere, functions[0].name);
    return made;
  }
  widen(elf, functions);
  // The jumps that have no room where they belong stand in the largest function, behind its own.
  const CopiedFunction* const largest = std::max_element(
      functions.begin(), functions.end(),
      [](const CopiedFunction& a, const CopiedFunction& b) { return a.size < b.size; });
  uint64_t free = largest->address + jump_size;
  for (const CopiedFunction& function : functions) {
    const uint64_t target = ours + function.ours;
    bool fits = true;
    if (function.size >= size_of(function)) {
      fits = made.patches.add(lead(function.address, target, function.is_resolver));
    } else if (function.size >= near_size && free + jump_size <= largest->address + largest->size) {
      fits = made.patches.add(near_jump(function.address, free)) &&
             made.patches.add(lead(free, target, function.is_resolver));
      free += jump_size;
    } else {
      made.obstacle = obstacle(Obstacle::Kind::too_short, function.name);
      return made;
    }
    if (!fits) {
      made.obstacle = obstacle(Obstacle::Kind::denied, function.name);
      return made;
    }
  }
  return made;
}

}  // namespace sluice::interpose
