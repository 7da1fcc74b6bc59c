// Has the name of one of CUDA's libraries of machine code.
extern "C" __attribute__((visibility("default"))) int version_of_gpu_library() {
  return 13;
}
