// libsluice-audit.so: who asks for NVRTC or nvJitLink gets our forwarder. On the CPU device, before
// any code of a program or library runs, each function of a CUDA runtime that is linked into it is
// led to the CPU device's own. The dynamic linker calls this library (LD_AUDIT, rtld-audit(7))
// under its own lock, in a namespace apart: nothing here is seen by the program. It needs no other
// library, not even C's (c_functions.cpp), which it would get once more in every process.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string_view>
#include <utility>

#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/driver/gpu_libraries.hpp"
#include "interpose/run_time_code/asked_library.hpp"
#include "interpose/static_runtime/first_look.hpp"
#include "interpose/static_runtime/loaded_object.hpp"
#include "interpose/static_runtime/message.hpp"

namespace sluice::interpose {
namespace {

struct Mapped {
  link_map* object;
};

struct State {
  bool is_cpu = false;
  Array<Mapped> waiting;                             // mapped, and not looked at
  link_map* runtimes[std::size(own_runtimes)] = {};  // the CPU device's
  bool told_of_gpu_library = false;
  Array<size_t> told;  // of files, by hash
};
// Never destroyed: the dynamic linker calls on while the process ends.
State& state() {
  alignas(State) static std::byte memory[sizeof(State)];
  static State* const all = new (memory) State();
  return *all;
}

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path;
}

// say() writes a line about a file, the program's own by its name.
void say(const char* path, const char* what, const char* remedy) {
  char program[4096] = {};
  const bool is_program = std::strcmp(path, own_program) == 0;
  const bool is_known = is_program && readlink(path, program, sizeof program - 1) > 0;
  tell(is_known ? program : path, what, remedy);
}

// say_once() says nothing of a file that was spoken of before: libraries are opened again and
// again.
void say_once(const char* path, const char* what, const char* remedy) {
  if (!is_logged(Line::error)) return;
  size_t hash = 14695981039346656037u;  // FNV-1a
  for (const char* at = path; *at != '\0'; ++at)
    hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211u;
  for (const size_t known : state().told) {
    if (known == hash) return;
  }
  state().told.add(hash);
  say(path, what, remedy);
}

void tell_obstacle(const char* path, const Obstacle& obstacle) {
  char what[256], remedy[256];
  describe(obstacle, what, sizeof what);
  describe_remedy(obstacle, remedy, sizeof remedy);
  say_once(path, what, remedy);
}

// own_file() is this library's: of all that is loaded, in any namespace, the one whose dynamic
// section is ours. Null where the dynamic linker does not tell.
const char* own_file() {
  const auto* space = reinterpret_cast<const r_debug_extended*>(&_r_debug);
  for (; space != nullptr; space = space->base.r_version > 1 ? space->r_next : nullptr) {
    for (const link_map* object = space->base.r_map; object != nullptr; object = object->l_next) {
      if (object->l_ld == _DYNAMIC) return object->l_name;
    }
  }
  return nullptr;
}

// The folder of the CPU device's libraries, this one too, with a slash at its end; empty where that
// does not say where it is.
const char* own_folder() {
  static char path[4096];
  if (*path != '\0') return path;
  const char* const own = own_file();
  if (own == nullptr) return path;
  std::string_view folder = own;
  folder.remove_suffix(file_name(folder).size());
  if (folder.size() < sizeof path) std::memcpy(path, folder.data(), folder.size());
  return path;
}

// RuntimePath is where one of those libraries lies.
struct RuntimePath {
  explicit RuntimePath(std::string_view name) {
    const std::string_view folder = own_folder();
    if (folder.size() + name.size() >= sizeof text) return;
    std::memcpy(text, folder.data(), folder.size());
    std::memcpy(text + folder.size(), name.data(), name.size());
  }
  char text[4096] = {};
};

// own_driver() is the CPU device's driver, for who asks for it by name where no shim has that name
// already. Folders that a program was linked with (RPATH) come later.
const char* own_driver() {
  static const RuntimePath path("libcuda.so.1");
  return path.text;
}

// is_own() is true of Sluice's own libraries, here and in the folder above, and of those that have
// a name of ours, as the runtimes themselves: they may have been found by another path to their
// folder.
bool is_own(std::string_view path) {
  if (file_name(path).starts_with("libsluice-")) return true;
  std::string_view folder = own_folder();
  path.remove_suffix(file_name(path).size());
  if (path == folder) return true;
  folder.remove_suffix(folder.empty() ? 0 : 1);
  folder.remove_suffix(file_name(folder).size());
  return !folder.empty() && path == folder;
}

bool is_same_file(const char* one, const char* other) {
  struct stat first = {}, second = {};
  return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// place_of() is where the state keeps the runtime of that name; null for other names.
link_map** place_of(std::string_view name) {
  for (size_t i = 0; i < std::size(own_runtimes); ++i) {
    if (own_runtimes[i] == name) return &state().runtimes[i];
  }
  return nullptr;
}

// own_runtime() is its place where the file is one of the CPU device's, else null.
link_map** own_runtime(const char* path) {
  link_map** const place = place_of(file_name(path));
  return place != nullptr && is_same_file(RuntimePath(file_name(path)).text, path) ? place
                                                                                   : nullptr;
}

void tell_of_gpu_library(const char* path) {
  if (state().told_of_gpu_library || !needs_gpu(file_name(path))) return;
  state().told_of_gpu_library = true;
  if (!is_logged(Line::error)) return;
  tell(path, "is machine code for a GPU, and its calls fail on the CPU device",
       "use kernels of your own, or a machine with a GPU (other such libraries are not named)");
}

// has_hidden_runtime() is true of a library with a runtime and without names for its functions.
bool has_hidden_runtime(const ElfView& elf) {
  return ElfSymbols(elf, SHT_SYMTAB).size() == 0 && elf.has_section(fat_binary_section);
}

// replace() leads a runtime that the object has to ours, and tells where it can't.
void replace(const char* path, const ElfView& elf, const link_map& object) {
  const std::string_view name = runtime_that_serves(elf);
  const FileView own_file(RuntimePath(name).text);
  RuntimeCopy copy = find_runtime(elf, RuntimeFunctions::read(own_file.bytes()));
  if (!copy.is_there) return;
  const link_map* const runtime = *place_of(name);
  if (runtime == nullptr) {
    char remedy[64];
    std::snprintf(remedy, sizeof remedy, "preload %.*s too", static_cast<int>(name.size()),
                  name.data());
    return say_once(path, "was linked with the static CUDA runtime", remedy);
  }
  const size_t functions = copy.functions.size();
  const Redirection redirection = redirect(elf, std::move(copy), runtime->l_addr);
  const Obstacle obstacle =
      redirection.obstacle ? redirection.obstacle : apply(redirection, elf, object);
  if (obstacle) return tell_obstacle(path, obstacle);
  if (!is_logged(Line::info)) return;
  char what[96];
  std::snprintf(what, sizeof what, "%zu functions of its static CUDA runtime are replaced",
                functions);
  say(path, what, "");
}

void look_at(const link_map& object) {
  const char* const path = path_of(object);
  tell_of_gpu_library(path);
  if (!is_worth_a_look(path)) return;
  const FileView file(path);
  const auto elf = ElfView::of(file.bytes());
  if (!elf || !is_file_of(*elf, object)) return;
  if (may_have_runtime(*elf)) {
    replace(path, *elf, object);
  } else if (!needs_gpu(file_name(path)) && has_hidden_runtime(*elf)) {
    say_once(path, stripped, keep_symbols);
  }
}

void forget(const link_map* object) {
  Array<Mapped>& waiting = state().waiting;
  size_t kept = 0;
  for (const Mapped other : waiting) {
    if (other.object != object) waiting[kept++] = other;
  }
  waiting.shorten(kept);
  for (link_map*& runtime : state().runtimes) {
    if (runtime == object) runtime = nullptr;
  }
}

void look_at_all() {
  Array<Mapped>& waiting = state().waiting;
  for (const Mapped mapped : waiting)
    look_at(*mapped.object);
  waiting.shorten(0);
}

}  // namespace
}  // namespace sluice::interpose

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  const char* const device = std::getenv("SLUICE_DEVICE");
  sluice::interpose::state().is_cpu = device != nullptr && std::strcmp(device, "cpu") == 0;
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

__attribute__((visibility("default"))) unsigned la_objopen(link_map* object, Lmid_t,
                                                           uintptr_t* cookie) {
  using namespace sluice::interpose;
  *cookie = reinterpret_cast<uintptr_t>(object);
  // On a GPU a program keeps its own runtime, and the libraries of machine code work.
  if (!state().is_cpu) return 0;
  if (link_map** const place = own_runtime(path_of(*object))) {
    if (*place == nullptr) *place = object;
  } else if (!is_own(path_of(*object))) {
    state().waiting.add({object});
  }
  return 0;
}

__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  using namespace sluice::interpose;
  const bool is_driver = state().is_cpu && std::strcmp(name, "libcuda.so.1") == 0;
  return const_cast<char*>(is_driver ? own_driver() : asked_library(name, own_folder()));
}

// Everything that is opened together is mapped, and none of its code has run.
__attribute__((visibility("default"))) void la_activity(uintptr_t*, unsigned flag) {
  if (flag == LA_ACT_CONSISTENT) sluice::interpose::look_at_all();
}

__attribute__((visibility("default"))) unsigned la_objclose(uintptr_t* cookie) {
  sluice::interpose::forget(reinterpret_cast<const link_map*>(*cookie));
  return 0;
}

}  // extern "C"
