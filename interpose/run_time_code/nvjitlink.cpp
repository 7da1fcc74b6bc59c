// libnvJitLink.so: on the CPU device who links machine code gets PTX in its place; on a GPU it is
// remembered of which PTX it was made. LTO code becomes PTX by the library's own -ptx, and PTX is
// linked by our linker. What is not here is the library's own, behind this one.
// Source: nvJitLink's documentation, "Supported Link Options" and "Linking".
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/file/bytes.hpp"
#include "base/result.hpp"
#include "interpose/run_time_code/made_code.hpp"
#include "interpose/run_time_code/real_library.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/link.hpp"
#include "ptx/printer.hpp"

using namespace sluice;
using namespace sluice::interpose;

namespace {

// As nvJitLink.h has them; the toolkit that this is built with may come without that header.
using Handle = struct NvJitLinkHandle*;
enum Answer { success = 0, ptx_error = 4, internal_error = 6, unrecognized_input = 8 };
enum Input { cubin = 1, ptx_text, lto, fat_binary, object, library, any = 10 };

// Linking is a handle that is to give machine code. It is used by one thread at a time, as
// nvJitLink's handles are.
struct Linking {
  Handle linker = nullptr;  // of LTO code to PTX: the program's own or, on a GPU, one beside it
  bool takes_lto = false;
  bool has_real_inputs = false;
  std::string most_registers;      // of a thread, as -maxrregcount has it; empty: any number
  std::vector<std::string> texts;  // PTX among the inputs, and what LTO code has become
  std::string image;
  std::string error;  // why this linker could not go on
};

class Linkings {
 public:
  void add(Handle handle, Linking linking) {
    const std::lock_guard lock(mutex_);
    linkings_[handle] = std::make_shared<Linking>(std::move(linking));
  }
  void remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    linkings_.erase(handle);
  }
  // find() is null for a handle that the library serves alone.
  std::shared_ptr<Linking> find(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = linkings_.find(handle);
    return found == linkings_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<Handle, std::shared_ptr<Linking>> linkings_;
};

// Never destroyed: programs link while the process ends, too.
Linkings& linkings() {
  static auto* all = new Linkings;
  return *all;
}

// guarded() keeps exceptions from C code.
template <class Body>
Answer guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return internal_error;
  }
}

Answer refuse(Linking& linking, Answer status, std::string reason) {
  linking.error = std::move(reason);
  return status;
}

// kind_of() tells what an input is that says "any": its first bytes do.
Input kind_of(std::string_view data) {
  const auto first = data.size() < 4 ? 0 : *read_field<uint32_t>(std::as_bytes(std::span(data)), 0);
  constexpr uint32_t fat = 0xBA55ED50, lto_code = 0x7F4E43ED, elf = 0x464C457F;
  if (first == fat) return fat_binary;
  if (first == lto_code) return lto;
  if (first == elf) return cubin;
  return data.starts_with("!<arch>") ? library : ptx_text;
}

Answer add_fat_binary(Linking& linking, std::string_view data) {
  Result<std::vector<ptx::CodeEntry>> entries =
      ptx::read_containers(std::as_bytes(std::span(data)));
  if (!entries) return refuse(linking, unrecognized_input, entries.error().line());
  Result<std::vector<std::string>> best = ptx::CodeImage{{std::move(*entries)}}.best_ptx();
  if (!best) return refuse(linking, unrecognized_input, best.error().line());
  linking.texts.push_back(std::move(best->front()));
  return success;
}

Answer add_input(Linking& linking, int type, const void* data, size_t size, const char* name) {
  const std::string_view bytes(static_cast<const char*>(data), size);
  const int kind = type == any ? kind_of(bytes) : type;
  // CUDA's device runtime: -ptx takes no library, and what a kernel needs of it is told when the
  // kernel is launched.
  if (name != nullptr && std::string_view(name).find("cudadevrt") != std::string_view::npos)
    return success;
  if (kind == ptx_text) {
    linking.texts.emplace_back(bytes.substr(0, bytes.find('\0')));
    return success;
  }
  if (kind == fat_binary && !linking.takes_lto) return add_fat_binary(linking, bytes);
  if (kind == lto || (linking.takes_lto && kind != cubin)) {
    linking.has_real_inputs = true;
    return call_real<Answer>("nvJitLinkAddData", internal_error, linking.linker, type, data, size,
                             name);
  }
  return refuse(linking, unrecognized_input,
                std::string(name == nullptr ? "input" : name) +
                    ": is machine code, which the CPU device's linker does not take; give it PTX "
                    "or LTO code");
}

// take_real_ptx() has the library link what it was given.
Answer take_real_ptx(Linking& linking) {
  const Handle handle = linking.linker;
  Answer status = call_real<Answer>("nvJitLinkComplete", internal_error, handle);
  size_t size = 0;
  if (status == success) {
    status = call_real<Answer>("nvJitLinkGetLinkedPtxSize", internal_error, handle, &size);
  }
  if (status != success) return status;
  std::string text(size, '\0');
  status = call_real<Answer>("nvJitLinkGetLinkedPtx", internal_error, handle, text.data());
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  linking.texts.insert(linking.texts.begin(), std::move(text));
  return status;
}

// limit_registers() has the kernels say what the linker was told, since PTX alone goes on to the
// driver. What says so of itself, or how many blocks are to fit, is left as it is.
void limit_registers(ptx::Module& module, const std::string& most) {
  for (ptx::ModuleItem& item : module.items) {
    auto* kernel = std::get_if<ptx::Function>(&item);
    if (kernel == nullptr || !kernel->is_entry) continue;
    const bool is_told = std::ranges::any_of(kernel->attributes, [](const ptx::Directive& each) {
      return each.name == "maxnreg" || each.name == "minnctapersm";
    });
    if (!is_told) kernel->attributes.push_back({"maxnreg", {most}, {}});
  }
}

Answer complete(Linking& linking) {
  // Without any input the library says what is wrong.
  if (linking.has_real_inputs || linking.texts.empty()) {
    const Answer status = take_real_ptx(linking);
    if (status != success) return status;
  }
  Result<ptx::Module> module = ptx::link_texts(linking.texts, "input");
  if (!module) return refuse(linking, ptx_error, module.error().line());
  if (!linking.most_registers.empty()) limit_registers(*module, linking.most_registers);
  const bool is_changed = linking.texts.size() > 1 || !linking.most_registers.empty();
  linking.image = is_changed ? ptx::print(*module) : std::move(linking.texts.front());
  return success;
}

// observe_input() takes an input of a linking on a GPU too. What is not understood, machine code
// above all, is in the linking's error, and nothing is remembered.
void observe_input(Linking& linking, int type, const void* data, size_t size, const char* name) {
  const Answer status = guarded([&] { return add_input(linking, type, data, size, name); });
  if (status != success && linking.error.empty()) linking.error = "not understood";
}

// remember() has the shim know the PTX of the machine code that the program got.
void remember(Handle handle, Linking& linking, const void* code) {
  size_t size = 0;
  const bool is_known =
      linking.error.empty() && guarded([&] { return complete(linking); }) == success &&
      call_real<Answer>("nvJitLinkGetLinkedCubinSize", internal_error, handle, &size) == success;
  if (is_known) remember_code(code, size, linking.image.data(), linking.image.size());
}

Answer create_real(Handle* handle, std::vector<const char*> options) {
  return call_real<Answer>("nvJitLinkCreate", internal_error, handle,
                           static_cast<uint32_t>(options.size()), options.data());
}

// take_most_registers() leaves what is no number to the library, which refuses it.
void take_most_registers(std::string_view option, std::string& most) {
  constexpr std::string_view name = "-maxrregcount=";
  if (!option.starts_with(name)) return;
  const std::string_view value = option.substr(name.size());
  if (!value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos)
    most = value;
}

Answer create(Handle* handle, uint32_t count, const char** given) {
  std::vector<const char*> options;
  if (given != nullptr) options.assign(given, given + count);
  const auto has = [&](std::string_view name) {
    for (const char* option : options) {
      if (option != nullptr && option == name) return true;
    }
    return false;
  };
  if (has("-ptx")) return create_real(handle, options);
  Linking linking;
  linking.takes_lto = has("-lto");
  for (const char* option : options)
    if (option != nullptr) take_most_registers(option, linking.most_registers);
  std::vector<const char*> for_ptx = options;
  if (linking.takes_lto) for_ptx.push_back("-ptx");
  const Answer status = create_real(handle, is_for_cpu() ? for_ptx : options);
  if (status != success) return status;
  linking.linker = *handle;
  if (!is_for_cpu() && create_real(&linking.linker, for_ptx) != success) return status;
  linkings().add(*handle, std::move(linking));
  return status;
}

}  // namespace

extern "C" {

Answer nvJitLinkCreate(Handle* handle, uint32_t count, const char** given) {
  return guarded([&] { return create(handle, count, given); });
}

Answer nvJitLinkDestroy(Handle* handle) {
  if (handle != nullptr) {
    const std::shared_ptr<Linking> linking = linkings().find(*handle);
    linkings().remove(*handle);
    if (linking != nullptr && linking->linker != nullptr && linking->linker != *handle) {
      call_real<Answer>("nvJitLinkDestroy", internal_error, &linking->linker);
    }
  }
  return call_real<Answer>("nvJitLinkDestroy", internal_error, handle);
}

Answer nvJitLinkAddData(Handle handle, int type, const void* data, size_t size, const char* name) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || data == nullptr) {
    return call_real<Answer>("nvJitLinkAddData", internal_error, handle, type, data, size, name);
  }
  if (!is_for_cpu()) {
    observe_input(*linking, type, data, size, name);
    return call_real<Answer>("nvJitLinkAddData", internal_error, handle, type, data, size, name);
  }
  return guarded([&] { return add_input(*linking, type, data, size, name); });
}

Answer nvJitLinkAddFile(Handle handle, int type, const char* path) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  return guarded([&] {
    std::ifstream file;
    if (linking != nullptr && path != nullptr) file.open(path, std::ios::binary);
    if (!file.is_open()) {
      return call_real<Answer>("nvJitLinkAddFile", internal_error, handle, type, path);
    }
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    if (!is_for_cpu()) {
      observe_input(*linking, type, bytes.data(), bytes.size(), path);
      return call_real<Answer>("nvJitLinkAddFile", internal_error, handle, type, path);
    }
    return add_input(*linking, type, bytes.data(), bytes.size(), path);
  });
}

Answer nvJitLinkComplete(Handle handle) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || !is_for_cpu()) {
    return call_real<Answer>("nvJitLinkComplete", internal_error, handle);
  }
  return guarded([&] { return complete(*linking); });
}

Answer nvJitLinkGetLinkedCubinSize(Handle handle, size_t* size) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || !is_for_cpu() || linking->image.empty() || size == nullptr) {
    return call_real<Answer>("nvJitLinkGetLinkedCubinSize", internal_error, handle, size);
  }
  *size = linking->image.size() + 1;
  return success;
}

Answer nvJitLinkGetLinkedCubin(Handle handle, void* code) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || !is_for_cpu() || linking->image.empty() || code == nullptr) {
    const auto status = call_real<Answer>("nvJitLinkGetLinkedCubin", internal_error, handle, code);
    if (status == success && linking != nullptr) remember(handle, *linking, code);
    return status;
  }
  std::memcpy(code, linking->image.c_str(), linking->image.size() + 1);
  return success;
}

Answer nvJitLinkGetErrorLogSize(Handle handle, size_t* size) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || !is_for_cpu() || linking->error.empty() || size == nullptr) {
    return call_real<Answer>("nvJitLinkGetErrorLogSize", internal_error, handle, size);
  }
  *size = linking->error.size() + 1;
  return success;
}

Answer nvJitLinkGetErrorLog(Handle handle, char* log) {
  const std::shared_ptr<Linking> linking = linkings().find(handle);
  if (linking == nullptr || !is_for_cpu() || linking->error.empty() || log == nullptr) {
    return call_real<Answer>("nvJitLinkGetErrorLog", internal_error, handle, log);
  }
  std::memcpy(log, linking->error.c_str(), linking->error.size() + 1);
  return success;
}

}  // extern "C"
