// Textures and surfaces by bindless handles.
#define X int(blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void texture_fetch(cudaTextureObject_t texture, float* out, int n) {
  if (X < n) out[X] = tex1Dfetch<float>(texture, X);
}

extern "C" __global__ void surface_write(cudaSurfaceObject_t surface, const float* in, int n) {
  if (X < n) surf1Dwrite(in[X], surface, X * int(sizeof(float)));
}
