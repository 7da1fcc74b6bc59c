// A CUDA runtime that is not the CPU device's: the shim knows it by its file's name.
extern "C" int cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return 0;
}
