// Makes each request of requests.def of the driver, which is a recording one with the shim before
// it, by name and by cuGetProcAddress_v2, once where the driver succeeds and once where it fails.
// Prints what was not forwarded as it was asked for, and how many requests were.
//   requests_program by-name|by-address
//   requests_program devices       launches on the default streams of two devices
//   requests_program unheard-of    calls what no header declares
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <dlfcn.h>

#include "interpose/requests/recording.hpp"

namespace sluice::testing {
namespace {

// What programs hand to the driver as code.
constexpr char image[8192] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

// Given is an argument, and what it points to.
template <class T>
struct Given {
  Given(const std::string& name, size_t number, bool own_stream)
      : value_(made_up<T>(seed_of(name, number) + 1)) {
    if constexpr (std::same_as<T, CUstream>) value_ = own_stream ? nullptr : value_;
  }
  T value() { return value_; }
  bool has_answer(const std::string&, size_t) const { return true; }
  T value_;
};
template <class T>
  requires std::is_void_v<std::remove_pointer_t<T>>
struct Given<T> {
  Given(const std::string&, size_t, bool) {}
  T value() { return const_cast<char*>(image); }
  bool has_answer(const std::string&, size_t) const { return true; }
};
template <class T>
  requires DataPointer<T>
struct Given<T> {
  using Value = std::remove_const_t<std::remove_pointer_t<T>>;
  Given(const std::string& name, size_t number, bool) {
    const auto made = made_up<Value>(seed_of(name, number) + 1);
    values_.fill(made);
    if constexpr (std::same_as<Value, CUlaunchConfig>) values_[0].numAttrs = 1;
    if constexpr (std::same_as<Value, char>) values_.back() = 0;
  }
  T value() { return values_.data(); }
  bool has_answer(const std::string& name, size_t number) const {
    if (std::is_const_v<std::remove_pointer_t<T>>) return true;
    const auto answer = made_up<Value>(seed_of(name, number));
    return std::memcmp(&values_[0], &answer, sizeof answer) == 0;
  }
  std::array<Value, 16> values_{};
};

struct Driver {
  void* library = nullptr;
  decltype(&::cuGetProcAddress_v2) look_up = nullptr;
  const Recording* recording = nullptr;
  bool by_address = false;

  // find() is what a program calls by that symbol.
  void* find(const std::string& symbol) const {
    if (!by_address) return dlsym(library, symbol.c_str());
    const bool per_thread = symbol.ends_with("_ptsz") || symbol.ends_with("_ptds");
    std::string base = per_thread ? symbol.substr(0, symbol.size() - 5) : symbol;
    if (const size_t version = base.rfind("_v"); version == base.size() - 3) base.resize(version);
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    look_up(
        base.c_str(), &function, 13000,
        per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT,
        &status);
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
  }
};

bool is_shims(void* function) {
  Dl_info info = {};
  return dladdr(function, &info) != 0 && std::string_view(info.dli_fname).ends_with("libsluice.so");
}

size_t count(std::string_view calls, const std::string& call) {
  size_t found = 0;
  for (size_t at = 0; at < calls.size();) {
    const size_t end = calls.find('\n', at);
    if (calls.substr(at, end - at) == call) ++found;
    at = end + 1;
  }
  return found;
}

template <class Function>
struct Request;
template <class... Taken>
struct Request<CUresult(CUDAAPI*)(Taken...)> {
  // As the driver may get the call: by the same symbol or, of one for programs with a default
  // stream for each thread, by the other form with that stream named.
  static std::vector<std::string> expected(const std::string& name, const auto&... values) {
    std::vector<std::string> calls = {text_of_call(name, values...)};
    if (!name.ends_with("_ptsz")) return calls;
    [[maybe_unused]] const auto own = [](auto value) {
      if constexpr (std::same_as<decltype(value), CUstream>) value = CU_STREAM_PER_THREAD;
      return value;
    };
    calls.push_back(text_of_call(name.substr(0, name.size() - 5), own(values)...));
    return calls;
  }

  // make() is what is wrong with the request; empty where nothing is.
  static std::string make(const Driver& driver, const std::string& name, CUresult result) {
    return make(driver, name, result, std::index_sequence_for<Taken...>());
  }
  template <size_t... number>
  static std::string make(const Driver& driver, const std::string& name, CUresult result,
                          std::index_sequence<number...>) {
    const auto function = reinterpret_cast<CUresult(CUDAAPI*)(Taken...)>(driver.find(name));
    if (function == nullptr) return "not found";
    if (!is_shims(reinterpret_cast<void*>(function))) return "not the shim's";
    [[maybe_unused]] const bool own_stream = name.ends_with("_ptsz");
    std::tuple<Given<Taken>...> given{Given<Taken>(name, number, own_stream)...};
    const auto calls = expected(name, std::get<number>(given).value()...);
    driver.recording->answer(result);
    driver.recording->take();
    const CUresult got = function(std::get<number>(given).value()...);
    driver.recording->answer(CUDA_SUCCESS);
    const std::string_view recorded = driver.recording->take();
    size_t forwarded = 0;
    for (const std::string& call : calls)
      forwarded += count(recorded, call);
    if (forwarded != 1)
      return fmt::format("forwarded {} times: asked\n  {}, got\n{}", forwarded, calls[0], recorded);
    if (got != result) return fmt::format("returned {} for {}", int(got), int(result));
    if (result != CUDA_SUCCESS) return {};
    std::string wrong;
    (void(std::get<number>(given).has_answer(answering(calls, recorded), number)
              ? wrong
              : wrong += fmt::format("another answer in argument {}", number)),
     ...);
    return wrong;
  }
  // The symbol by which the driver was called: its answers are made up by that.
  static std::string answering(const std::vector<std::string>& calls, std::string_view recorded) {
    for (const std::string& call : calls)
      if (count(recorded, call) == 1) return call.substr(0, call.find(' '));
    return {};
  }
};

int make_all(const Driver& driver) {
  int right = 0;
  for (const CUresult result : {CUDA_SUCCESS, CUDA_ERROR_UNKNOWN}) {
    const auto make = [&](const std::string& name, auto function) {
      const std::string wrong = Request<decltype(function)>::make(driver, name, result);
      right += wrong.empty() ? 1 : 0;
      if (!wrong.empty()) std::printf("%s: %s\n", name.c_str(), wrong.c_str());
    };
#define SLUICE_REQUEST(symbol) make(#symbol, &::symbol);
#include "interpose/requests/requests.def"
  }
  std::printf("%d\n", right);
  return 0;
}

// Each device's launches are on the default stream of its context.
int use_devices(const Driver& driver) {
  const auto launch = reinterpret_cast<decltype(&::cuLaunchKernel)>(driver.find("cuLaunchKernel"));
  for (const int device : {0, 1, 1, 0}) {
    driver.recording->enter(device);
    if (launch(made_up<CUfunction>(1), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) !=
        CUDA_SUCCESS) {
      return 1;
    }
  }
  return 0;
}

int call_unheard_of(const Driver& driver) {
  using Function = int (*)(int, double, int, int, int, int, int, int, uint64_t*);
  uint64_t sum = 0;
  for (int i = 0; i < 2; ++i) {
    const auto function = reinterpret_cast<Function>(driver.find("cuUnheardOf"));
    if (function == nullptr || !is_shims(reinterpret_cast<void*>(function))) return 1;
    if (function(1, 2.5, 3, 4, 5, 6, 7, 8, &sum) != 0) return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  return 0;
}

}  // namespace
}  // namespace sluice::testing

int main(int argc, char** argv) {
  using namespace sluice::testing;
  const std::string_view what = argc == 2 ? argv[1] : "";
  Driver driver;
  driver.by_address = what != "by-name" && what != "devices";
  driver.library = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver.library == nullptr) return 2;
  driver.look_up =
      reinterpret_cast<decltype(driver.look_up)>(dlsym(driver.library, "cuGetProcAddress_v2"));
  const auto init = reinterpret_cast<decltype(&::cuInit)>(dlsym(driver.library, "cuInit"));
  const auto table =
      reinterpret_cast<decltype(&::cuGetExportTable)>(dlsym(driver.library, "cuGetExportTable"));
  const void* recording = nullptr;
  if (init(0) != CUDA_SUCCESS || table(&recording, &recording_id) != CUDA_SUCCESS) return 2;
  driver.recording = static_cast<const Recording*>(recording);
  if (what == "devices") return use_devices(driver);
  if (what == "unheard-of") return call_unheard_of(driver);
  return make_all(driver);
}
