// Compiles a kernel with NVRTC for an architecture of machine code, or links it with nvJitLink,
// loads what it gets by the driver API, and runs it. Built twice: with the libraries among those
// that it needs (LINKED), and without, when it opens the files of its arguments.
//   makes_code nvrtc|nvrtc-apart|lto|ptx|both|registers [NVRTC [NVJITLINK]]
//   makes_code file               takes what the file that CODE names has, and makes nothing
// writes the code into the file that CODE names, if any, and
// prints the sum of what the kernel wrote, 4950.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>

// As nvrtc.h and nvJitLink.h declare them.
extern "C" {
int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*,
                       const char* const*);
int nvrtcCompileProgram(void*, int, const char* const*);
int nvrtcGetCUBINSize(void*, size_t*);
int nvrtcGetCUBIN(void*, char*);
int nvrtcGetPTXSize(void*, size_t*);
int nvrtcGetPTX(void*, char*);
int nvrtcGetLTOIRSize(void*, size_t*);
int nvrtcGetLTOIR(void*, char*);
int nvrtcDestroyProgram(void**);
int nvrtcVersion(int*, int*);
int nvJitLinkCreate(void**, unsigned, const char**);
int nvJitLinkAddData(void*, int, const void*, size_t, const char*);
int nvJitLinkComplete(void*);
int nvJitLinkGetLinkedCubinSize(void*, size_t*);
int nvJitLinkGetLinkedCubin(void*, void*);
int nvJitLinkDestroy(void**);
}

namespace {

#ifdef LINKED
#define FUNCTION(name) name
#else
void* libraries[2];
template <class Function>
Function* find(const char* name) {
  for (void* const library : libraries) {
    void* const found = library == nullptr ? nullptr : dlsym(library, name);
    if (found != nullptr) return reinterpret_cast<Function*>(found);
  }
  std::printf("no %s\n", name);
  std::exit(1);
}
#define FUNCTION(name) find<decltype(name)>(#name)
#endif

void check(int result, const char* what) {
  if (result == 0) return;
  std::printf("%s: error %d\n", what, result);
  std::exit(1);
}
#define CALL(name, ...) check(FUNCTION(name)(__VA_ARGS__), #name)

using Code = std::vector<char>;
enum class Kind { machine, lto, ptx };

Code compile(const char* source, Kind kind, std::vector<const char*> options) {
  void* program = nullptr;
  CALL(nvrtcCreateProgram, &program, source, "kernel.cu", 0, nullptr, nullptr);
  if (kind == Kind::lto) options.push_back("-dlto");
  if (kind == Kind::ptx) options.push_back("-rdc=true");
  CALL(nvrtcCompileProgram, program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  Code code;
  if (kind == Kind::machine) {
    CALL(nvrtcGetCUBINSize, program, &size);
    code.resize(size);
    CALL(nvrtcGetCUBIN, program, code.data());
  } else if (kind == Kind::lto) {
    CALL(nvrtcGetLTOIRSize, program, &size);
    code.resize(size);
    CALL(nvrtcGetLTOIR, program, code.data());
  } else {
    CALL(nvrtcGetPTXSize, program, &size);
    code.resize(size);
    CALL(nvrtcGetPTX, program, code.data());
  }
  CALL(nvrtcDestroyProgram, &program);
  return code;
}

constexpr int input_ptx = 2, input_lto = 3;

Code link(const std::vector<std::pair<int, Code>>& inputs, std::vector<const char*> options) {
  void* linker = nullptr;
  CALL(nvJitLinkCreate, &linker, static_cast<unsigned>(options.size()), options.data());
  for (const auto& [type, code] : inputs)
    CALL(nvJitLinkAddData, linker, type, code.data(), code.size(), "input");
  CALL(nvJitLinkComplete, linker);
  size_t size = 0;
  CALL(nvJitLinkGetLinkedCubinSize, linker, &size);
  Code code(size);
  CALL(nvJitLinkGetLinkedCubin, linker, code.data());
  CALL(nvJitLinkDestroy, &linker);
  return code;
}

constexpr const char* whole =
    "extern \"C\" __global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }";
constexpr const char* caller =
    "__device__ int value(int); extern \"C\" __global__ void fill(int* out) "
    "{ out[threadIdx.x] = value(threadIdx.x); }";
constexpr const char* callee = "__device__ int value(int i) { return i; }";

Code make(const std::string& how) {
  if (how == "nvrtc") return compile(whole, Kind::machine, {"-arch=sm_80"});
  if (how == "nvrtc-apart") return compile(whole, Kind::machine, {"--gpu-architecture", "sm_80"});
  const std::vector<const char*> machine = {"-arch=sm_80"};
  const Code first_lto = compile(caller, Kind::lto, machine);
  const Code first_ptx = compile(caller, Kind::ptx, machine);
  if (how == "lto") {
    return link({{input_lto, first_lto}, {input_lto, compile(callee, Kind::lto, machine)}},
                {"-arch=sm_80", "-lto"});
  }
  const Code second = compile(callee, Kind::ptx, machine);
  if (how == "both")
    return link({{input_lto, first_lto}, {input_ptx, second}}, {"-lto", "-arch=sm_80"});
  std::vector<const char*> options = machine;
  if (how == "registers") options.push_back("-maxrregcount=40");
  return link({{input_ptx, first_ptx}, {input_ptx, second}}, options);
}

void save(const Code& code) {
  const char* const path = std::getenv("CODE");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "wb");
  if (file == nullptr) return;
  std::fwrite(code.data(), 1, code.size(), file);
  std::fclose(file);
}

Code saved() {
  Code code;
  if (std::FILE* const file = std::fopen(std::getenv("CODE"), "rb")) {
    for (int next = std::fgetc(file); next != EOF; next = std::fgetc(file))
      code.push_back(static_cast<char>(next));
    std::fclose(file);
  }
  return code;
}

int run(const Code& code) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUdeviceptr out = 0;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoadData(&module, code.data()), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, "fill"), "cuModuleGetFunction");
  check(cuMemAlloc(&out, 100 * sizeof(int)), "cuMemAlloc");
  void* parameters[] = {&out};
  check(cuLaunchKernel(kernel, 1, 1, 1, 100, 1, 1, 0, nullptr, parameters, nullptr),
        "cuLaunchKernel");
  int values[100] = {};
  check(cuMemcpyDtoH(values, out, sizeof values), "cuMemcpyDtoH");
  int sum = 0;
  for (const int value : values)
    sum += value;
  return sum;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "nvrtc";
  if (how == "file") {
    std::printf("%d\n", run(saved()));
    return 0;
  }
#ifndef LINKED
  // As programs look whether somebody else has loaded it.
  if (dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_NOLOAD) != nullptr) return 1;
  // What failed to open before must not end the search for the library.
  if (dlopen("/dev/null/library.so", RTLD_NOW) != nullptr) return 1;
  for (int i = 2; i < count && i < 4; ++i) {
    libraries[i - 2] = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    if (libraries[i - 2] == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
  }
#endif
  int major = 0, minor = 0;
  CALL(nvrtcVersion, &major, &minor);  // which no forwarder has
  const Code code = make(how);
  save(code);
  std::printf("%d\n", run(code));
  return major >= 12 ? 0 : 1;
}
