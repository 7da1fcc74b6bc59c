// libnvrtc.so: on the CPU device who asks for machine code gets PTX in its place; on a GPU it is
// remembered of which PTX it was made. What is not here is the library's own, behind this one.
// Source: NVRTC's documentation, "Basic Usage" and "Supported Compile Options".
#include <cstddef>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "interpose/run_time_code/made_code.hpp"
#include "interpose/run_time_code/real_library.hpp"

using namespace sluice::interpose;

namespace {

// As nvrtc.h has them; the toolkit that this is built with may come without that header.
using Program = struct NvrtcProgram*;
enum Result { success = 0, out_of_memory = 1, internal_error = 11 };

// Programs are those that were compiled for an architecture of machine code and not destroyed.
class Programs {
 public:
  void add(Program program) {
    const std::lock_guard lock(mutex_);
    programs_.insert(program);
  }
  void remove(Program program) {
    const std::lock_guard lock(mutex_);
    programs_.erase(program);
  }
  bool has(Program program) {
    const std::lock_guard lock(mutex_);
    return programs_.contains(program);
  }

 private:
  std::mutex mutex_;
  std::set<Program> programs_;
};

// Never destroyed: programs compile while the process ends, too.
Programs& for_machines() {
  static auto* programs = new Programs;
  return *programs;
}

constexpr const char* architecture_options[] = {"-arch", "--gpu-architecture"};

// ask_for_ptx() makes "-arch=sm_90" to "-arch=compute_90", also where name and value are options of
// their own. Returns whether there was machine code to make.
bool ask_for_ptx(std::vector<std::string>& options) {
  bool is_for_machine = false;
  for (size_t i = 0; i < options.size(); ++i) {
    for (const std::string name : architecture_options) {
      const bool is_alone = options[i] == name && i + 1 < options.size();
      if (!is_alone && !options[i].starts_with(name + "=")) continue;
      std::string& place = is_alone ? options[i + 1] : options[i];
      const std::string before = is_alone ? "" : name + "=";
      const std::string wanted = before + virtual_architecture(place.substr(before.size()));
      is_for_machine = is_for_machine || wanted != place;
      place = wanted;
      break;
    }
  }
  return is_for_machine;
}

Result compile(Program program, int count, const char* const* given) {
  std::vector<std::string> options(given, given + count);
  const bool is_for_machine = ask_for_ptx(options);
  std::vector<const char*> texts;
  for (const std::string& option : options)
    texts.push_back(option.c_str());
  if (is_for_machine) for_machines().add(program);
  return call_real<Result>("nvrtcCompileProgram", internal_error, program, count,
                           static_cast<const char* const*>(texts.data()));
}

// remember() has the shim know the PTX of the machine code that the program got: the library has
// both.
void remember(Program program, const char* code) {
  size_t size = 0, ptx_size = 0;
  call_real<Result>("nvrtcGetCUBINSize", internal_error, program, &size);
  call_real<Result>("nvrtcGetPTXSize", internal_error, program, &ptx_size);
  if (size == 0 || ptx_size == 0) return;
  std::string ptx(ptx_size, '\0');
  if (call_real<Result>("nvrtcGetPTX", internal_error, program, ptx.data()) != success) return;
  remember_code(code, size, ptx.data(), ptx_size);
}

}  // namespace

extern "C" {

Result nvrtcCompileProgram(Program program, int count, const char* const* options) {
  if (!is_for_cpu() || count <= 0 || options == nullptr) {
    return call_real<Result>("nvrtcCompileProgram", internal_error, program, count, options);
  }
  try {
    return compile(program, count, options);
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  }
}

Result nvrtcGetCUBINSize(Program program, size_t* size) {
  const char* const name = for_machines().has(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize";
  return call_real<Result>(name, internal_error, program, size);
}

Result nvrtcGetCUBIN(Program program, char* code) {
  const char* const name = for_machines().has(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
  const auto result = call_real<Result>(name, internal_error, program, code);
  if (result != success || is_for_cpu()) return result;
  try {
    remember(program, code);
  } catch (const std::bad_alloc&) {
    return result;  // launches of what is not remembered pass through
  }
  return result;
}

Result nvrtcDestroyProgram(Program* program) {
  if (program != nullptr) for_machines().remove(*program);
  return call_real<Result>("nvrtcDestroyProgram", internal_error, program);
}

}  // extern "C"
