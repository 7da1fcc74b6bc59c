#include "interpose/static_runtime/runtime_copy.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <cuda.h>

namespace sluice::interpose {
namespace {

// CUDA 12 alone has this function: before and after it the name has no suffix.
constexpr std::string_view landmark_of_cuda_12 = "cudaGetDeviceProperties_v2";

// Names of C functions of the runtime: cudaFree, __cudaPushCallConfiguration.
bool is_runtime_name(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  return name.size() > 4 && name.starts_with("cuda") && name[4] >= 'A' && name[4] <= 'Z';
}

// Who uses a shared runtime has the name too, and not the function.
bool defines_landmark(const ElfSymbols& symbols) {
  if (!symbols.may_have(runtime_landmark)) return false;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Elf64_Sym symbol = symbols[i];
    if (is_defined_function(symbol) && symbols.begins(symbol, runtime_landmark)) return true;
  }
  return false;
}

// The symbols that tell most: the whole table, else what is exported.
ElfSymbols symbols_of(const ElfView& elf) {
  const ElfSymbols all(elf, SHT_SYMTAB);
  return all.size() != 0 ? all : ElfSymbols(elf, SHT_DYNSYM);
}

// lacking_function() is a function of the runtime that ours has not. A program may have functions
// with such names too, and nvcc's own code has: the runtime is one object file, so that its
// functions lie side by side, and no others lie among them.
std::string_view lacking_function(const ElfSymbols& symbols, const RuntimeFunctions& ours,
                                  uint64_t first, uint64_t last) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Elf64_Sym symbol = symbols[i];
    if (!is_defined_function(symbol) || symbol.st_value < first || symbol.st_value > last) continue;
    const std::string_view name = symbols.name(symbol);
    if (is_runtime_name(name) && ours.find(name) == nullptr) return name;
  }
  return {};
}

// take_functions() is false where there is no memory.
bool take_functions(const ElfSymbols& symbols, const RuntimeFunctions& ours,
                    Array<CopiedFunction>& functions) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Elf64_Sym symbol = symbols[i];
    if (!is_defined_function(symbol)) continue;
    const std::string_view name = symbols.name(symbol);
    const RuntimeFunctions::Function* own = is_runtime_name(name) ? ours.find(name) : nullptr;
    if (own == nullptr) continue;
    const bool is_resolver = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
    if (!functions.add({symbol.st_value, symbol.st_size, own->address, is_resolver, name})) {
      return false;
    }
  }
  return true;
}

// merge_aliases() leaves one function for each address. Names that share one must share ours too.
Obstacle merge_aliases(Array<CopiedFunction>& functions) {
  std::sort(functions.begin(), functions.end(),
            [](const CopiedFunction& a, const CopiedFunction& b) { return a.address < b.address; });
  size_t kept = 0;
  for (const CopiedFunction& function : functions) {
    const bool is_alias = kept != 0 && functions[kept - 1].address == function.address;
    if (!is_alias) {
      functions[kept++] = function;
    } else if (functions[kept - 1].ours != function.ours) {
      return obstacle(Obstacle::Kind::two_names, function.name);
    }
  }
  functions.shorten(kept);
  return {};
}

}  // namespace

Obstacle obstacle(Obstacle::Kind kind, std::string_view function) {
  Obstacle made;
  made.kind = kind;
  const size_t length = std::min(function.size(), sizeof made.function - 1);
  std::memcpy(made.function, function.data(), length);
  return made;
}

void describe(const Obstacle& obstacle, char* text, size_t size) {
  const char *before = "", *after = "";
  switch (obstacle.kind) {
    case Obstacle::Kind::none:
      break;
    case Obstacle::Kind::lacking:
      before = ", whose ", after = " the CPU device's runtime lacks";
      break;
    case Obstacle::Kind::too_short:
      before = ", whose ", after = " is too short to be replaced";
      break;
    case Obstacle::Kind::two_names:
      before = ", whose ", after = " is another function too and can't be replaced";
      break;
    case Obstacle::Kind::elsewhere:
      before = ", whose ", after = " is not where the file says";
      break;
    case Obstacle::Kind::denied:
      before = ", and the system does not let its ", after = " be replaced";
      break;
  }
  std::snprintf(text, size, "was linked with the static CUDA runtime%s%s%s", before,
                obstacle.function, after);
}

void describe_remedy(const Obstacle& obstacle, char* text, size_t size) {
  if (obstacle.kind == Obstacle::Kind::lacking) {
    // Of another CUDA, whose shared runtime would serve no better.
    std::snprintf(text, size, "to run it on the CPU device, build it with CUDA %d.%d",
                  CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  } else {
    std::snprintf(text, size, "%s", link_shared);
  }
}

RuntimeFunctions RuntimeFunctions::read(Bytes file) {
  RuntimeFunctions read;
  const auto elf = ElfView::of(file);
  if (!elf) return read;
  const ElfSymbols symbols(*elf, SHT_DYNSYM);
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Elf64_Sym symbol = symbols[i];
    const std::string_view name = symbols.name(symbol);
    if (!is_defined_function(symbol) || !is_runtime_name(name)) continue;
    if (!read.functions_.add({name, symbol.st_value})) return {};
  }
  std::sort(read.functions_.begin(), read.functions_.end(),
            [](const Function& a, const Function& b) { return a.name < b.name; });
  return read;
}

const RuntimeFunctions::Function* RuntimeFunctions::find(std::string_view name) const {
  const Function* const found = std::lower_bound(
      functions_.begin(), functions_.end(), name,
      [](const Function& function, std::string_view wanted) { return function.name < wanted; });
  return found != functions_.end() && found->name == name ? found : nullptr;
}

bool may_have_runtime(const ElfView& elf) {
  return defines_landmark(ElfSymbols(elf, SHT_SYMTAB)) ||
         defines_landmark(ElfSymbols(elf, SHT_DYNSYM));
}

std::string_view runtime_that_serves(const ElfView& elf) {
  const ElfSymbols symbols = symbols_of(elf);
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Elf64_Sym symbol = symbols[i];
    if (is_defined_function(symbol) && symbols.name(symbol) == landmark_of_cuda_12) {
      return own_runtimes[1];
    }
  }
  return own_runtimes[0];
}

RuntimeCopy find_runtime(const ElfView& elf, const RuntimeFunctions& ours) {
  RuntimeCopy copy;
  const ElfSymbols symbols = symbols_of(elf);
  if (!symbols.may_have(runtime_landmark)) return copy;
  const bool all_taken = take_functions(symbols, ours, copy.functions);
  // A runtime is there as a whole or not at all. Who wraps functions of it, as profilers do, has a
  // few.
  copy.is_there = copy.functions.size() > ours.size() / 2;
  if (!copy.is_there) return copy;
  if (!all_taken) {
    copy.obstacle = obstacle(Obstacle::Kind::denied, runtime_landmark);
    return copy;
  }
  copy.obstacle = merge_aliases(copy.functions);
  if (copy.obstacle) return copy;
  const std::string_view lacking = lacking_function(
      symbols, ours, copy.functions[0].address, copy.functions[copy.functions.size() - 1].address);
  if (!lacking.empty()) copy.obstacle = obstacle(Obstacle::Kind::lacking, lacking);
  return copy;
}

}  // namespace sluice::interpose
