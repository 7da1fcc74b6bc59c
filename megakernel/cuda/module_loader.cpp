#include "megakernel/cuda/module_loader.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "megakernel/cuda/linker.hpp"

namespace sluice::megakernel {
namespace {

constexpr size_t log_bytes = 8192;

// The log is the driver's text, which it ends with a NUL where there is room.
std::string text_of(const std::vector<char>& log) {
  return {log.begin(), std::find(log.begin(), log.end(), '\0')};
}

// line_named_in() is the number behind "line " in a message; 0 where there is none.
size_t line_named_in(std::string_view message) {
  constexpr std::string_view before = "line ";
  const size_t at = message.find(before);
  size_t line = 0;
  if (at == std::string_view::npos) return 0;
  std::from_chars(message.data() + at + before.size(), message.data() + message.size(), line);
  return line;
}

// body_at() is the body whose function is the last to begin up to a line of the text, or null.
const TaskBody* body_at(const std::string& text, size_t line,
                        std::span<const TaskBody* const> bodies) {
  const TaskBody* found = nullptr;
  size_t start = 0;
  for (size_t number = 1; number <= line && start < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view here(text.data() + start, end - start);
    start = end + 1;
    if (here.find(".func ") == std::string_view::npos &&
        here.find(".entry ") == std::string_view::npos) {
      continue;
    }
    const auto names = [&](const TaskBody* body) {
      return here.find(' ' + body->function + '(') != std::string_view::npos;
    };
    const auto body = std::find_if(bodies.begin(), bodies.end(), names);
    found = body == bodies.end() ? nullptr : *body;
  }
  return found;
}

CUresult load_text(const CudaDriver& driver, const std::string& text, CUmodule& module,
                   std::string& log) {
  std::vector<char> errors(log_bytes, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors.data(), reinterpret_cast<void*>(errors.size())};
  const CUresult result = driver.cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  log = text_of(errors);
  return result;
}

CUresult allow_shared_memory(const CudaDriver& driver, CUfunction function) {
  CUdevice device = 0;
  int most = 0;
  CUresult result = driver.cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS) {
    result = driver.cuDeviceGetAttribute(
        &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
  }
  if (result != CUDA_SUCCESS) return result;
  return driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most);
}

}  // namespace

std::string first_error(const std::string& log, const std::string& text,
                        std::span<const TaskBody* const> bodies) {
  std::string_view line;
  for (size_t start = 0; start < log.size();) {
    const size_t end = std::min(log.find('\n', start), log.size());
    const std::string_view here(log.data() + start, end - start);
    start = end + 1;
    const bool tells = here.find("error") != std::string_view::npos ||
                       here.find("fatal") != std::string_view::npos;
    if (!here.empty() && (line.empty() || tells)) line = here;
    if (tells) break;
  }
  constexpr std::string_view beginning = "ptxas ";
  if (line.starts_with(beginning)) line.remove_prefix(beginning.size());
  const TaskBody* body = body_at(text, line_named_in(line), bodies);
  return body == nullptr ? std::string(line) : fmt::format("in body {}: {}", body->function, line);
}

Result<LoadedModule> load_module(const CudaDriver& driver, const std::string& text,
                                 std::span<const TaskBody* const> bodies) {
  const RelaxedCapture relaxed(driver);
  LoadedModule loaded;
  std::string log;
  CUresult result = load_text(driver, text, loaded.module, log);
  const bool is_loaded = result == CUDA_SUCCESS;
  if (is_loaded) {
    result = driver.cuModuleGetFunction(&loaded.function, loaded.module, megakernel_name);
  }
  if (result == CUDA_SUCCESS) result = allow_shared_memory(driver, loaded.function);
  if (result == CUDA_SUCCESS) return loaded;
  if (is_loaded) driver.cuModuleUnload(loaded.module);
  const std::string why = first_error(log, text, bodies);
  return unsupported(
      fmt::format("the driver does not take the megakernel with its code (error {}){}{}",
                  static_cast<int>(result), why.empty() ? "" : ": ", why));
}

}  // namespace sluice::megakernel
