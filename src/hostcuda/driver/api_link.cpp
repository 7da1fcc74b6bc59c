// The driver's linker: PTX goes in, and an image that cuModuleLoadData takes comes out.
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "hostcuda/driver/entry.hpp"

using namespace sluice;
using namespace sluice::hostcuda;

namespace {

// Linking is what a CUlinkState stands for. What is compiled is compiled at a kernel's first
// launch, so the image is the PTX itself.
struct Linking {
  std::string text;
};

HandleTable<Linking, CUlinkState>& linkings() {
  static auto* table = new HandleTable<Linking, CUlinkState>;
  return *table;
}

CUresult add_text(CUlinkState state, CUjitInputType type, std::string text) {
  const std::shared_ptr<Linking> linking = linkings().find(state);
  if (linking == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (type != CU_JIT_INPUT_PTX) {
    log::error("linking anything but PTX is unsupported on the CPU device; give the linker PTX");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!linking->text.empty()) {
    log::error("linking several PTX units is unsupported on the CPU device; give the linker one");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  std::shared_ptr<LoadedCode> code;
  std::string message;
  text.resize(std::strlen(text.c_str()));
  const CUresult result = LoadedCode::load(text.c_str(), &code, &message);
  if (result == CUDA_SUCCESS) linking->text = std::move(text);
  return result;
}

}  // namespace

CUresult cuLinkCreate_v2(unsigned int, CUjit_option*, void**, CUlinkState* state) {
  return with_context([&](Driver&, Context&) -> CUresult {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = linkings().add(std::make_shared<Linking>());
    return CUDA_SUCCESS;
  });
}
SLUICE_OLDER_FORM(cuLinkCreate, cuLinkCreate_v2)

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes,
                          const char*, unsigned int, CUjit_option*, void**) {
  return with_context([&](Driver&, Context&) -> CUresult {
    if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return add_text(state, type, std::string(static_cast<const char*>(data), bytes));
  });
}
SLUICE_OLDER_FORM(cuLinkAddData, cuLinkAddData_v2)

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int,
                          CUjit_option*, void**) {
  return with_context([&](Driver&, Context&) -> CUresult {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    return add_text(state, type, {std::istreambuf_iterator<char>(file), {}});
  });
}
SLUICE_OLDER_FORM(cuLinkAddFile, cuLinkAddFile_v2)

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return with_context([&](Driver&, Context&) -> CUresult {
    const std::shared_ptr<Linking> linking = linkings().find(state);
    if (linking == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (image == nullptr || linking->text.empty()) return CUDA_ERROR_INVALID_VALUE;
    *image = linking->text.data();
    if (bytes != nullptr) *bytes = linking->text.size() + 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return with_driver([&](Driver&) -> CUresult {
    return linkings().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
