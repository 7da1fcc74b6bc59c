// The driver's linker: PTX goes in, and an image that cuModuleLoadData takes comes out.
#include "ptx/link.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "hostcuda/driver/api/code/jit_log.hpp"
#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/code/code_input.hpp"
#include "hostcuda/driver/code/grid_functions.hpp"
#include "hostcuda/jit/library/device_library.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

// Linking is what a CUlinkState stands for. What is compiled is compiled at a kernel's first
// launch, so the image is PTX. For one thread at a time, as CUDA's is.
struct Linking {
  explicit Linking(const JitLog& log) : log(log) {}
  JitLog log;
  std::vector<ptx::LinkUnit> units;
  std::string image;
};

HandleTable<Linking, CUlinkState>& linkings() {
  static auto* table = new HandleTable<Linking, CUlinkState>;
  return *table;
}

CUresult add_unit(Linking& linking, std::string name, const std::string& text,
                  std::string* message) {
  Result<ptx::Module> module = ptx::parse(text, name);
  if (!module) return report(module.error(), CUDA_ERROR_INVALID_PTX, message);
  linking.units.push_back({std::move(name), std::move(*module)});
  return CUDA_SUCCESS;
}

CUresult add_image(Linking& linking, const std::string& name, const std::string& bytes,
                   std::string* message) {
  const Result<std::vector<ptx::CodeEntry>> entries =
      ptx::read_containers(std::as_bytes(std::span(bytes)));
  if (!entries) return report(entries.error(), CUDA_ERROR_INVALID_IMAGE, message);
  std::vector<std::string> texts;
  const CUresult result = best_ptx(ptx::CodeImage{{*entries}}, &texts, message);
  return result == CUDA_SUCCESS ? add_unit(linking, name, texts[0], message) : result;
}

CUresult add_input(Linking& linking, CUjitInputType type, const std::string& name,
                   const std::string& bytes) {
  const JitLog::Clock clock(linking.log);
  std::string message;
  CUresult result = CUDA_ERROR_NOT_SUPPORTED;
  if (type == CU_JIT_INPUT_PTX) {
    result = add_unit(linking, name, bytes.substr(0, bytes.find('\0')), &message);
  } else if (type == CU_JIT_INPUT_FATBINARY) {
    result = add_image(linking, name, bytes, &message);
  } else if (type == CU_JIT_INPUT_LIBRARY && name.find("cudadevrt") != std::string::npos) {
    // CUDA's device runtime: what a unit needs of it is here, or is missed when all are linked.
    result = CUDA_SUCCESS;
  } else {
    message =
        "linking anything but PTX and fat binaries is unsupported on the CPU device; give the "
        "linker PTX";
    log::error("{}", message);
  }
  if (!message.empty()) linking.log.add_error(message);
  return result;
}

// An input has options of its own for the compiler, and none for what it says.
bool are_options_of_input(unsigned count, const CUjit_option* options) {
  return count == 0 ||
         (options != nullptr && std::none_of(options, options + count, [](CUjit_option option) {
            return option == CU_JIT_WALL_TIME || option == CU_JIT_INFO_LOG_BUFFER ||
                   option == CU_JIT_ERROR_LOG_BUFFER || option == CU_JIT_TARGET_FROM_CUCONTEXT ||
                   option == CU_JIT_TARGET;
          }));
}

// with_linking() calls body(Linking&).
template <class Body>
CUresult with_linking(CUlinkState state, Body&& body) noexcept {
  return with_context([&](Driver&, Context&) -> CUresult {
    const std::shared_ptr<Linking> linking = linkings().find(state);
    return linking == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*linking);
  });
}

bool is_provided(std::string_view name) {
  return jit::find_device_function(name) != nullptr || is_grid_function(name);
}

}  // namespace

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values,
                         CUlinkState* state) {
  return with_context([&](Driver&, Context&) -> CUresult {
    const JitLog log(count, options, values);
    if (state == nullptr || !log.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    *state = linkings().add(std::make_shared<Linking>(log));
    return CUDA_SUCCESS;
  });
}
SLUICE_OLDER_FORM(cuLinkCreate, cuLinkCreate_v2)

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                          const char* name, unsigned int count, CUjit_option* options, void**) {
  return with_linking(state, [&](Linking& linking) -> CUresult {
    if (data == nullptr || bytes == 0 || !are_options_of_input(count, options)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return add_input(linking, type,
                     name != nullptr ? name : fmt::format("input {}", linking.units.size() + 1),
                     std::string(static_cast<const char*>(data), bytes));
  });
}
SLUICE_OLDER_FORM(cuLinkAddData, cuLinkAddData_v2)

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path,
                          unsigned int count, CUjit_option* options, void**) {
  return with_linking(state, [&](Linking& linking) -> CUresult {
    if (path == nullptr || !are_options_of_input(count, options)) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    return add_input(linking, type, path, {std::istreambuf_iterator<char>(file), {}});
  });
}
SLUICE_OLDER_FORM(cuLinkAddFile, cuLinkAddFile_v2)

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return with_linking(state, [&](Linking& linking) -> CUresult {
    if (image == nullptr || linking.units.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (linking.image.empty()) {
      const JitLog::Clock clock(linking.log);
      const Result<ptx::Module> module = ptx::link_units(linking.units, is_provided);
      if (!module) {
        std::string message;
        const CUresult result = report(module.error(), CUDA_ERROR_INVALID_PTX, &message);
        linking.log.add_error(message);
        return result;
      }
      linking.image = ptx::print(*module);
    }
    *image = linking.image.data();
    if (bytes != nullptr) *bytes = linking.image.size() + 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return with_driver([&](Driver&) -> CUresult {
    return linkings().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
